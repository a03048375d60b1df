// Tests what the extension takes the fields of a page for, and which of them it fills: page.js and typed.js on simulated fields. Run in a
// folder with the extension's sources.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const site = "https://login.example.com";
const listeners = {};
/** What the page has, in its order. */
let page = [];

class PlayedField {
    minLength = -1;
    maxLength = -1;
    placeholder = "";
    constructor(type, { name = "", autocomplete, value = "", form = "form" }) {
        Object.assign(this, { type, name, id: name, autocomplete, value, form });
    }
    getAttribute(name) { return this[name] ?? null; }
    focus() {}
    dispatchEvent() {}
    compareDocumentPosition(other) { return page.indexOf(this) < page.indexOf(other) ? 4 : 2; }
}
/** Reports a change of a type when it is asked, as a browser does after the script that made it. */
class PlayedObserver {
    static changes = [];
    constructor(note) { PlayedObserver.note = note; }
    observe(_, { attributeFilter }) { assert.deepEqual(attributeFilter, ["type"]); }
    takeRecords() { return PlayedObserver.changes.splice(0); }
}
Object.assign(globalThis, {
    window: globalThis, parent: globalThis, origin: site, location: { protocol: "https:", origin: site },
    Node: { DOCUMENT_POSITION_FOLLOWING: 4 }, document: { activeElement: null, querySelectorAll: () => page }, HTMLInputElement: PlayedField, MutationObserver: PlayedObserver,
    InputEvent: class extends Event {}, addEventListener: (name, listener) => { listeners[name] = listener; },
    vaubanSight: { isVisible: () => true, scrollBack() {} },
});
await import("./page.js");
await import("./typed.js");

beforeEach(() => { page = []; });

const field = (type, more = {}) => {
    const one = new PlayedField(type, more);
    page.push(one);
    return one;
};
const type = (field, value) => {
    field.value = value;
    for (const name of ["keydown", "input"]) listeners[name]({ isTrusted: true, target: field });
};
/** What a page does when the user asks it to show a password. */
const show = (field) => {
    PlayedObserver.changes.push({ target: field, oldValue: field.type });
    field.type = "text";
};
const place = () => ({ origin: site, until: Date.now() + 1000 });
const look = (number = 1) => vaubanPage.inspect(site, number);
const values = () => page.map(({ value }) => value);

test("A password that the page shows is still one when it is sent, and is no account", () => {
    const [account, shown, again] = [field("email"), field("password"), field("password")];
    type(account, "anna@example.com");
    type(shown, "S3cret");
    show(shown);
    type(again, "S3cret");
    assert.deepEqual(vaubanPage.sent(page), { account: "anna@example.com", password: "S3cret", isNew: true });
    page.pop();
    assert.deepEqual(vaubanPage.sent(page), { account: "anna@example.com", password: "S3cret", isNew: false });
    // The browser has reported the change before.
    PlayedObserver.note(PlayedObserver.changes.splice(0));
    assert.equal(look(7).typed, 7);
    assert.deepEqual(vaubanPage.read(place(), 7), { account: "anna@example.com", password: "S3cret" });
});

test("A change whose present password is shown has no account", () => {
    const [present, renewed, again] = [field("password"), field("password"), field("password")];
    type(present, "OldSecret");
    show(present);
    for (const one of [renewed, again]) type(one, "new one");
    assert.deepEqual(vaubanPage.sent(page), { account: "", password: "new one", isNew: true });
});

test("A field that says what it is for is a password although it never hid anything, unless only \"new-password\" says so", () => {
    field("text", { name: "login" });
    const present = field("text", { autocomplete: "current-password" });
    const renewed = field("text", { name: "newPassword", autocomplete: "new-password" });
    const other = field("text", { name: "city", autocomplete: "new-password" });
    for (const name of ["passport_number", "passengerName", "bypass", "compass"]) field("text", { name, autocomplete: "new-password" });
    for (const name of ["pass", "user_pass", "passwd", "passphrase", "pwd2"]) field("text", { name, autocomplete: "new-password" });
    assert.deepEqual(
        page.map(vaubanPage.isPassword), [false, true, true, false, false, false, false, false, true, true, true, true, true]);
    type(renewed, "S3cret");
    type(other, "Lille");
    assert.deepEqual(vaubanPage.sent([page[0], renewed, other]), { account: "", password: "S3cret", isNew: true });
    type(present, "OldSecret");
    assert.equal(vaubanPage.sent([page[0], present]).password, "OldSecret");
});

test("A field that says \"new-password\" is an account only if its name says so", () => {
    for (const [name, account] of [["userName", "anna"], ["x7", ""]]) {
        page = [];
        const [first, second] = [field("text", { name, autocomplete: "new-password" }), field("password")];
        type(first, "anna");
        type(second, "S3cret");
        assert.equal(vaubanPage.sent(page).account, account, name);
    }
});

test("A shown password is not filled, and the account is", () => {
    const [, shown] = [field("text", { name: "user" }), field("password")];
    show(shown);
    const { login, password, isShown, renewal } = look();
    assert.deepEqual({ login, password, isShown, renewal }, { login: true, password: false, isShown: true, renewal: null });
    assert.equal(vaubanPage.fill(place(), "anna", "tulips"), false);
    assert.deepEqual(values(), ["", ""]);
    assert.equal(vaubanPage.fill(place(), "anna", null), true);
    assert.deepEqual(values(), ["anna", ""]);
    shown.type = "password";
    assert.equal(look().isShown, false);
    assert.equal(vaubanPage.fill(place(), "anna", "tulips"), true);
    assert.deepEqual(values(), ["anna", "tulips"]);
});

test("A new password is filled into all of its fields or none", () => {
    const [, shown] = [field("email"), field("password"), field("password")];
    show(shown);
    assert.deepEqual([look().renewal, look().isShown, vaubanPage.renew(place(), "made")], [null, true, false]);
    assert.deepEqual(values(), ["", "", ""]);
    shown.type = "password";
    assert.deepEqual([look().renewal, vaubanPage.renew(place(), "made")], [{ rules: "", minlength: null, maxlength: null }, true]);
    assert.deepEqual(values(), ["", "made", "made"]);
});

test("The only password field gets a stored password although it says that it is for a new one, and one of two does not", () => {
    field("password", { autocomplete: "new-password" });
    const { login, password, isEmpty, renewal } = look();
    assert.deepEqual([login, password, isEmpty, renewal !== null], [true, true, false, true]);
    assert.equal(vaubanPage.fill(place(), "anna", "tulips"), true);
    assert.deepEqual(values(), ["tulips"]);
    field("password", { autocomplete: "new-password" });
    assert.deepEqual([look().login, look().password, vaubanPage.fill(place(), "anna", "roses")], [false, false, false]);
    page[1].autocomplete = "current-password";
    assert.equal(vaubanPage.fill(place(), "anna", "roses"), true);
    assert.deepEqual(values(), ["tulips", "roses"]);
});

test("An item without an account leaves the account that the user typed", () => {
    field("text", { value: "anna" });
    field("password");
    assert.equal(vaubanPage.fill(place(), "", "tulips"), true);
    assert.deepEqual(values(), ["anna", "tulips"]);
    assert.equal(vaubanPage.fill(place(), "", null), false);
    assert.equal(vaubanPage.fill(place(), "bert", "roses"), true);
    assert.deepEqual(values(), ["bert", "roses"]);
});
