// Tests the parts of the extension that need no browser; the browser's interface and the host are simulated. Run in a folder with the
// extension's sources.
import assert from "node:assert/strict";
import { test } from "node:test";

const removed = [];
const stored = {};
globalThis.chrome = {
    runtime: { id: "own" },
    tabs: { onRemoved: { addListener: (listener) => removed.push(listener) } },
    storage: { local: { get: async (key) => ({ [key]: stored[key] }), set: async (values) => Object.assign(stored, values) } },
};
// Timers end when the test ends them.
let timers = new Map();
globalThis.setTimeout = (end, milliseconds) => {
    const timer = {};
    timers.set(timer, { end, milliseconds });
    return timer;
};
globalThis.clearTimeout = (timer) => timers.delete(timer);
/** Lets all times of so many seconds end. */
function pass(seconds) {
    for (const [timer, { end, milliseconds }] of [...timers]) {
        if (milliseconds !== seconds * 1000) continue;
        timers.delete(timer);
        end();
    }
}

const { inspect } = await import("./frames.js");
const { HostError } = await import("./host.js");
const { Kept } = await import("./kept.js");
const { Offers } = await import("./offers.js");
const { Outcomes } = await import("./outcomes.js");
const { accountOf, formIn, isOffered, placeOf } = await import("./sent.js");
const { silence } = await import("./silence.js");

const site = "https://login.example.com";
const page = (tab, more = {}) => ({ id: "own", tab: { id: tab, incognito: false }, frameId: 0, origin: site, ...more });
const typed = (more = {}) => ({ account: "anna", password: "tulips", isNew: false, ...more });

/** A host that answers as the test says, and counts who needs its connection. */
class PlayedHost {
    users = 0;
    asked = [];
    reply = { stored: "no", items: [] };
    retain() { this.users += 1; }
    release() { this.users -= 1; }
    async ask(request) {
        this.asked.push(request);
        if (this.reply instanceof Error) throw this.reply;
        return this.reply;
    }
    async store(what) {
        this.asked.push({ request: "store", ...what });
        return { history: true };
    }
}
class PlayedMarks {
    set(tab, reason, text) { this[tab] = { reason, text }; }
    clear(tab) { delete this[tab]; }
}
function played() {
    timers = new Map();
    const host = new PlayedHost();
    const marks = new PlayedMarks();
    return { host, marks, offers: new Offers(host, marks) };
}

test("One thing is kept of a tab, until its time ends, and the host is needed as long", () => {
    timers = new Map();
    const host = new PlayedHost();
    const dropped = [];
    const kept = new Kept(host, 120, (tab) => dropped.push(tab));
    kept.keep(1, "first");
    const { number } = kept.of(1);
    kept.keep(1, "second");
    assert.deepEqual([kept.of(1).value, host.users, dropped], ["second", 1, [1]]);
    kept.drop(1, number);
    assert.equal(kept.of(1).value, "second");
    assert.ok(kept.of(1).number > number);
    pass(120);
    assert.deepEqual([kept.of(1), host.users, dropped, timers.size], [null, 0, [1, 1], 0]);
});

test("Of more than sixteen tabs the oldest is forgotten", () => {
    const host = new PlayedHost();
    const kept = new Kept(host, 120, () => {});
    for (let tab = 1; tab <= 17; tab++) kept.keep(tab, tab);
    assert.deepEqual([kept.of(1), kept.of(2).value, [...kept.tabs()].length, host.users], [null, 2, 16, 16]);
});

test("A place is what the browser says: https, no private window, and no frame within another site", () => {
    assert.deepEqual(placeOf(page(1), "own"), { tab: 1, origin: site });
    assert.equal(placeOf(page(1), "other"), null);
    assert.equal(placeOf(page(1, { origin: "http://login.example.com" }), "own"), null);
    assert.equal(placeOf(page(1, { origin: undefined }), "own"), null);
    assert.equal(placeOf(page(1, { tab: undefined }), "own"), null);
    assert.equal(placeOf(page(1, { tab: { id: 1, incognito: true } }), "own"), null);
    const frame = (url) => placeOf(page(1, { frameId: 3, tab: { id: 1, incognito: false, url } }), "own");
    assert.equal(frame("https://evil.example/"), null);
    assert.deepEqual(frame(`${site}/frames`), { tab: 1, origin: site });
    assert.deepEqual(frame(undefined), { tab: 1, origin: site });
});

test("A form has an account, a password and a kind, and neither is too long", () => {
    assert.deepEqual(formIn({ ...typed(), more: 1 }), typed());
    for (const message of [null, undefined, 7, {}, typed({ account: 1 }), typed({ password: null }), typed({ isNew: "yes" }),
        typed({ account: "a\nb" }), typed({ account: "a".repeat(1001) }), typed({ password: "p".repeat(4001) })])
        assert.equal(formIn(message), null);
});

test("A form without an account has that of the page before, of the same site alone", () => {
    const first = { origin: site, account: "anna" };
    assert.equal(accountOf(typed({ account: "bert" }), site, first), "bert");
    assert.equal(accountOf(typed({ account: "" }), site, first), "anna");
    assert.equal(accountOf(typed({ account: "" }), "https://evil.example", first), null);
    assert.equal(accountOf(typed({ account: "" }), site, null), null);
    assert.equal(accountOf(typed({ account: "", isNew: true }), site, null), "");
});

test("What is stored already is not offered, nor what cannot be read, unless it is new", () => {
    const answers = ["no", "other", "same", "unread"].map((stored) => [isOffered(stored, false), isOffered(stored, true)]);
    assert.deepEqual(answers, [[true, true], [true, true], [false, false], [false, true]]);
});

test("A form is offered with what was typed, saved by its number, and then forgotten", async () => {
    const { host, marks, offers } = played();
    offers.take(page(1), typed());
    const offer = await offers.offer(1);
    assert.deepEqual({ ...offer, number: 0 }, { number: 0, origin: site, account: "anna", items: [], keepsHistory: true });
    assert.deepEqual(marks[1], { reason: "offer", text: "+" });
    await assert.rejects(offers.accept(1, offer.number + 1, null, false, () => {}), /Nothing was saved/);
    await offers.accept(1, offer.number, null, false, () => {});
    assert.equal(host.asked.at(-1).password, "tulips");
    assert.deepEqual([await offers.offer(1), marks[1], host.users], [null, undefined, 0]);
});

test("What is stored, silenced, refused, answered, old or of a closed tab does not wait", async () => {
    for (const end of [
        ({ host }) => { host.reply = { stored: "same", items: [] }; },
        ({ host }) => { host.reply = new HostError("It has ended.", false); },
        async () => await silence(site, true),
        async ({ offers }) => offers.decline(1, (await offers.offer(1)).number),
        async ({ offers }) => { await offers.offer(1); pass(120); },
        async ({ offers }) => { await offers.offer(1); removed.at(-1)(1); },
        ({ offers }) => offers.take(page(1), typed({ password: "" })),
    ]) {
        const all = played();
        all.offers.take(page(1), typed());
        await end(all);
        assert.deepEqual([await all.offers.offer(1), all.marks[1], all.host.users], [null, undefined, 0], `${end}`);
        await silence(site, false);
    }
});

test("Of a locked keychain nothing is known, so the form is offered after unlocking", async () => {
    const { host, marks, offers } = played();
    host.reply = new HostError("The keychain is locked", true);
    offers.take(page(1), typed());
    await assert.rejects(offers.offer(1), /locked/);
    assert.equal(marks[1].text, "+");
    host.reply = { stored: "other", items: [{ item: "1" }], history: false };
    assert.deepEqual((await offers.offer(1)).items, [{ item: "1" }]);
});

test("A form without an account is compared first, which starts no stopped keychain, and is offered for each item", async () => {
    const form = typed({ account: "", isNew: true });
    const requests = ({ asked }) => asked.map(({ request }) => request);
    const locked = played();
    locked.host.reply = new HostError("It was stopped", true);
    locked.offers.take(page(1), form);
    await assert.rejects(locked.offers.offer(1), /stopped/);
    assert.deepEqual([requests(locked.host), locked.marks[1].text], [["compare", "compare"], "+"]);
    for (const [stored, count] of [["no", 1], ["other", 1], ["unread", 1], ["same", 0]]) {
        const { host, offers } = played();
        host.reply = { stored, items: [{ item: "1", purpose: "password" }, { item: "2", purpose: "code" }] };
        offers.take(page(1), form);
        assert.equal((await offers.offer(1))?.items.length ?? 0, count, stored);
        assert.deepEqual(requests(host), count ? ["compare", "find", "compare", "find"] : ["compare"], stored);
    }
});

test("A page that the browser lets no extension into has no fields, unless a frame of it answers", async () => {
    const fields = { login: true, renewal: null, code: false };
    const refused = async () => { throw new Error("Frame with ID 0 is showing error page"); };
    const found = async (own, all) => {
        chrome.scripting = { executeScript: ({ target: { allFrames } }) => (allFrames ? all : own)() };
        return await inspect(1, site);
    };
    const nothing = { frame: 0, fields: null, isSilent: false, isClosed: true };
    assert.deepEqual(await found(refused, refused), nothing);
    assert.deepEqual(await found(refused, async () => [{ frameId: 3, result: fields }]), { ...nothing, frame: 3, fields, isClosed: false });
    assert.deepEqual(await found(async () => [{ frameId: 0, result: null }], refused), { ...nothing, isClosed: false });
    const silent = async () => new Promise(() => queueMicrotask(() => pass(5)));
    assert.deepEqual(await found(silent, refused), { ...nothing, isSilent: true, isClosed: false });
});

test("A page cannot keep the keychain busy: the twenty-first form within two minutes is not compared", async () => {
    const { host, offers } = played();
    for (let form = 0; form < 20; form++) {
        offers.take(page(1), typed({ password: `p${form}` }));
        assert.notEqual(await offers.offer(1), null);
    }
    const before = host.asked.length;
    offers.take(page(1), typed({ password: "one more" }));
    assert.deepEqual([await offers.offer(1), host.asked.length, host.users], [null, before, 0]);
});

test("Of the accounts that a page asks for first, however many, the last one counts, for two minutes", async () => {
    const { offers } = played();
    for (let form = 0; form < 1000; form++) offers.take(page(1), typed({ account: `a${form}`, password: "" }));
    assert.equal(timers.size, 1);
    offers.take(page(1), typed({ account: "" }));
    assert.equal((await offers.offer(1)).account, "a999");
    pass(120);
    offers.take(page(1), typed({ account: "" }));
    assert.deepEqual([await offers.offer(1), timers.size], [null, 0]);
    offers.take(page(2), typed({ password: "" }));
    removed.at(-1)(2);
    assert.equal(timers.size, 0);
});

test("What came of a choice waits for a popup that shows it", () => {
    timers = new Map();
    const host = new PlayedHost();
    const marks = new PlayedMarks();
    const outcomes = new Outcomes(host, marks);
    outcomes.keep(1, "Saved.");
    const outcome = outcomes.keep(1, "Filled.");
    outcomes.mark();
    assert.deepEqual([outcome.sentence, marks[1].text, host.users], ["Filled.", "!", 1]);
    outcomes.shown(1, outcome.number - 1);
    assert.deepEqual(outcomes.of(1), outcome);
    outcomes.shown(1, outcome.number);
    assert.deepEqual([outcomes.of(1), marks[1], host.users], [null, undefined, 0]);
    outcomes.keep(2, "Saved.");
    pass(600);
    assert.deepEqual([outcomes.of(2), host.users], [null, 0]);
});
