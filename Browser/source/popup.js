// What you choose from. background.js carries it out, and says what came of it.

import { about, clear, disable, element, focus, offer, plain, say } from "./shown.js";

const port = chrome.runtime.connect({ name: "popup" });
const site = element("site");
/** @type {(done: any) => void} */
let next = show;

port.onMessage.addListener((message) => {
    if (message.waiting !== undefined) return say("waiting", `Answer Vauban's prompt: ${message.waiting}`);
    if (message.earlier) {
        element("earlier").textContent = `Your last choice: ${message.earlier.sentence}`;
        return port.postMessage({ order: "shown", ...message.earlier });
    }
    if (message.outcome) port.postMessage({ order: "shown", ...message.outcome });
    if (message.error === undefined) return next(message.done);
    clear();
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
    clear();
    site.textContent = new URL(view.origin).host;
    if (view.offer) showOffer(view, view.offer);
    const passwords = items.filter((item) => item.purpose === "password");
    for (const item of passwords) {
        const name = item.account || item.title;
        if (fields?.login) {
            // A page that asks for the account first has no other field.
            const canFill = fields.password || item.account !== "";
            offer(`Fill ${name}`, canFill ? about(item) : "it has no account, which the page asks for first",
                canFill ? () => order("Filling …", { order: "fill", view, item }, () => window.close()) : null);
        }
        if (fields?.renewal)
            offer(`New password for ${name}`, about(item), replacing(view, item, "Generating …", { order: "renew", view, item }));
    }
    if (fields?.code) {
        for (const item of items.filter((item) => item.purpose === "code")) {
            const name = item.account || item.title;
            offer(`Fill the code of ${name}`, about(item), () => order("Filling …", { order: "code", view, item }, () => window.close()));
        }
    }
    if (fields?.renewal) {
        offer("New account: generate and save a password", fields.account ? `for ${plain(fields.account)}` : "enter the account first",
            fields.account ? () => order("Generating …", { order: "renew", view, item: null, mayLose: false }, end) : null);
    }
    if (fields?.typed && !view.offer) showTyped(view, fields, passwords);
    if (view.isSilenced) {
        offer("Offer again to save", `on ${site.textContent}`,
            () => order("One moment …", { order: "silence", view, origin: view.origin, isSilenced: false }, start));
    }
    say("ready", summary(view));
    focus();
}

/** @param {View} view */
function summary({ offer, fields, items, isSilent, isClosed, hasMore }) {
    if (offer) return "Save it if the site has accepted it.";
    if (isSilent) return "This page does not answer, so it cannot be filled. Try again later.";
    if (isClosed) return "The browser lets no extension into this page, so it cannot be filled. If it has failed to load, load it again.";
    if (!fields) return "This page has no fields to fill.";
    if (fields.isShown) return "This page shows the password, so Vauban does not fill it. Hide it in the page, and open this window again.";
    if (hasMore) return `Your keychain has more items for this site. These are the first ${items.length}.`;
    return items.length > 0 ? "" : "Your keychain has no item for this site.";
}

/**
 * What you typed and did not send yet. Without an account, you say whose password it is.
 * @param {View} view @param {FoundFields} fields @param {OfferedItem[]} passwords
 */
function showTyped(view, fields, passwords) {
    const own = fields.account ? passwords.filter((item) => item.account === fields.account).slice(0, 1) : passwords;
    for (const item of own)
        offer(`Replace the password of ${item.account || item.title}`, `${about(item)} · as it is in the form`,
            replacing(view, item, "Saving …", { order: "keep", view, item }));
    if (own.length === 0 && fields.account) {
        offer(`Save the password of ${plain(fields.account)}`, "as it is in the form",
            () => order("Saving …", { order: "keep", view, item: null, mayLose: false }, end));
    }
}

/**
 * What you typed and sent. It has its own site's name, since the page in front may be another by now.
 * @param {View} view @param {Offer} typed
 */
function showOffer(view, typed) {
    const { host } = new URL(typed.origin);
    for (const item of typed.items) {
        const name = plain(typed.account) || item.account || item.title;
        offer(`Replace the password of ${name}`, `${about(item)} · as you typed it on ${host}`,
            replacing(view, item, "Saving …", { order: "accept", view, item }));
    }
    if (typed.items.length === 0) {
        offer(`Save the password of ${plain(typed.account)}`, `as you typed it on ${host}`,
            () => order("Saving …", { order: "accept", view, item: null, mayLose: false }, end));
    }
    offer("Not now", "what you typed is forgotten", () => order("One moment …", { order: "decline", view }, () => window.close()));
    offer("Never on this site", `do not offer to save on ${host}`,
        () => order("One moment …", { order: "silence", view, origin: typed.origin, isSilenced: true }, () => window.close()));
}

/**
 * What the choice of a replacement does: the order, and if the keychain keeps no earlier passwords, only after a second choice.
 * @param {View} view @param {OfferedItem} item @param {string} sentence @param {object} message
 */
function replacing(view, item, sentence, message) {
    if (view.keepsHistory) return () => order(sentence, { ...message, mayLose: false }, end);
    const name = item.account || item.title;
    return () => {
        clear();
        say("ready", `Your keychain keeps no earlier passwords. The one of ${name} is lost when the new one is saved, also if the site `
            + "refuses that. To keep it, run first: vauban settings --history on");
        offer("Back", "nothing is replaced", start);
        offer(`Replace the password of ${name} for good`, about(item), () => order(sentence, { ...message, mayLose: true }, end));
        focus();
    };
}

/** @param {{ said: string }} done */
function end({ said }) {
    clear();
    say("done", said);
}

/** @param {string} sentence @param {object} message @param {(done: any) => void} then */
function order(sentence, message, then) {
    disable();
    say("busy", sentence);
    next = then;
    port.postMessage(message);
}

export {};
