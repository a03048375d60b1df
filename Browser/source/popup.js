// What you choose from. All text of items and pages is set as text, never as HTML. The title names the state, for tests and screen readers.

const port = chrome.runtime.connect({ name: "popup" });
const site = element("site");
const choices = element("choices");
const state = element("status");
/** @type {(done: any) => void} */
let next = show;

port.onMessage.addListener((message) => {
    if (message.waiting !== undefined) return say("waiting", `Answer Vauban's prompt: ${message.waiting}`);
    if (message.error === undefined) return next(message.done);
    choices.replaceChildren();
    say("refused", message.error);
    if (message.locked) offer("Unlock", "your passcode or a finger", () => order("Unlocking …", { order: "unlock" }, start));
});
start();

function start() {
    order("One moment …", { order: "open" }, show);
}

/** @param {View} view */
function show(view) {
    const { fields, items } = view;
    choices.replaceChildren();
    site.textContent = new URL(view.origin).host;
    if (view.offer) showOffer(view, view.offer);
    const passwords = items.filter((item) => item.purpose === "password");
    for (const item of passwords) {
        const name = item.account || item.title;
        if (fields?.login)
            offer(`Fill ${name}`, about(item), () => order("Filling …", { order: "fill", view, item }, () => window.close()));
        if (fields?.renewal)
            offer(`New password for ${name}`, about(item), () => order("Generating …", { order: "renew", view, item }, tellNew));
    }
    if (fields?.code) {
        for (const item of items.filter((item) => item.purpose === "code")) {
            const name = item.account || item.title;
            offer(`Fill the code of ${name}`, about(item), () => order("Filling …", { order: "code", view, item }, () => window.close()));
        }
    }
    if (fields?.renewal) {
        const detail = fields.account ? `for ${plain(fields.account)}` : "enter the account first, to save it too";
        offer("New account: generate and save a password", detail,
            () => order("Generating …", { order: "renew", view, item: null }, tellNew));
    }
    if (fields?.typed && !view.offer) {
        const same = passwords.find((item) => item.account === fields.account) ?? null;
        const save = () => order("Saving …", { order: "keep", view, item: same }, () => end("Saved."));
        if (same) offer(`Replace the password of ${same.account || same.title}`, `${about(same)} · as it is in the form`, save);
        else offer(`Save the password of ${plain(fields.account) || "this form"}`, "as it is in the form", save);
    }
    if (view.isSilenced) {
        offer("Offer again to save", `on ${site.textContent}`,
            () => order("One moment …", { order: "silence", view, origin: view.origin, isSilenced: false }, start));
    }
    if (view.offer) say("ready", "Save it if the site has accepted it.");
    else if (!fields) say("ready", "This page has no fields to fill.");
    else say("ready", items.length > 0 ? "" : "Your keychain has no item for this site.");
    choices.querySelector("button")?.focus();
}

/**
 * What you typed and sent. It has its own site's name, since the page in front may be another by now.
 * @param {View} view @param {Offer} typed
 */
function showOffer(view, typed) {
    const { host } = new URL(typed.origin);
    const account = plain(typed.account);
    offer(typed.item ? `Replace the password of ${account}` : `Save the password of ${account}`,
        `${typed.item ? `${about(typed.item)} · ` : ""}as you typed it on ${host}`,
        () => order("Saving …", { order: "accept", view }, () => end("Saved.")));
    offer("Not now", "what you typed is forgotten", () => order("One moment …", { order: "decline", view }, () => window.close()));
    offer("Never on this site", `do not offer to save on ${host}`,
        () => order("One moment …", { order: "silence", view, origin: typed.origin, isSilenced: true }, () => window.close()));
}

/** @param {OfferedItem} item */
function about(item) {
    return `${item.title} · ${item.why}${item.asks ? " · asks you first" : ""}`;
}

/**
 * A page's text as part of a line of ours: short, and without characters that are invisible or change the order of others.
 * @param {string | null | undefined} text
 */
function plain(text) {
    return (text ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").slice(0, 120);
}

/** @param {{ summary: string }} done */
function tellNew({ summary }) {
    end(`Saved and filled: ${summary}.`);
}

/** @param {string} sentence */
function end(sentence) {
    choices.replaceChildren();
    say("done", sentence);
}

/** @param {string} title @param {string} detail @param {() => void} chosen */
function offer(title, detail, chosen) {
    const button = document.createElement("button");
    const small = document.createElement("small");
    small.textContent = detail;
    button.append(title, small);
    button.addEventListener("click", chosen);
    const entry = document.createElement("li");
    entry.append(button);
    choices.append(entry);
}

/** @param {string} sentence @param {object} message @param {(done: any) => void} then */
function order(sentence, message, then) {
    for (const button of choices.querySelectorAll("button")) button.disabled = true;
    say("busy", sentence);
    next = then;
    port.postMessage(message);
}

/** @param {string} name @param {string} sentence */
function say(name, sentence) {
    document.title = `Vauban: ${name}`;
    // For Benchmarks/browser, in the browser's own clock.
    performance.mark(name);
    state.textContent = sentence;
}

/** @param {string} id @returns {HTMLElement} */
function element(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`popup.html has no ${id}`);
    return found;
}

export {};
