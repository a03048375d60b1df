// Between the popup, the page and the host. It takes orders from the popup alone, and asks the browser for the page's origin each time.
// Pages tell it what you typed and sent; it keeps nothing but that, as offers.js says.

import { Host, HostError } from "./host.js";
import { Offers } from "./offers.js";

const host = new Host();
const offers = new Offers(host);

chrome.runtime.onConnect.addListener((port) => {
    const { sender } = port;
    // submit.js, of which nothing is taken but forms: if a page has taken over its process, it can send anything.
    if (sender?.tab && port.name === "form") return port.onMessage.addListener((sent) => offers.take(sender, sent));
    // Pages cannot connect, and what runs in one comes with a tab.
    if (sender?.id !== chrome.runtime.id || sender.tab || sender.url !== chrome.runtime.getURL("popup.html")) return port.disconnect();
    host.retain();
    let isOpen = true;
    port.onDisconnect.addListener(() => {
        isOpen = false;
        host.release();
    });
    /** @param {object} message */
    const tell = (message) => {
        if (isOpen) port.postMessage(message);
    };
    port.onMessage.addListener(async (order) => {
        try {
            tell({ done: await obey(order, (place) => tell({ waiting: place })) });
        } catch (error) {
            tell({ error: error instanceof Error ? error.message : String(error), locked: error instanceof HostError && error.locked });
        }
    });
});

/** @param {any} order @param {(place: string) => void} waiting */
async function obey(order, waiting) {
    if (order.order === "open") return await open(waiting);
    if (order.order === "unlock") return await host.ask({ request: "unlock" }, waiting);
    if (order.order === "accept") return await offers.accept(order.view.tab, order.view.offer, waiting);
    if (order.order === "decline") return offers.decline(order.view.tab, order.view.offer);
    if (order.order === "silence") {
        if (order.view.offer) offers.decline(order.view.tab, order.view.offer);
        return await offers.silence(order.origin, order.isSilenced);
    }
    /** @type {View} */
    const view = order.view;
    await checkOrigin(view);
    const { origin } = view;
    switch (order.order) {
        case "fill": {
            // A page that asks for the account first needs no password yet.
            const reply = view.fields?.password ? await host.ask({ request: "password", origin, item: order.item.item }, waiting) : null;
            return filled(await inFrame(view, (origin, account, password) => vaubanPage.fill(origin, account, password),
                [origin, reply?.account ?? order.item.account, reply?.password ?? null]));
        }
        case "code": {
            const { code } = await host.ask({ request: "code", origin, item: order.item.item }, waiting);
            return filled(await inFrame(view, (origin, code) => vaubanPage.code(origin, code), [origin, code]));
        }
        case "renew": {
            const { rules, minlength, maxlength } = view.fields?.renewal ?? { rules: "", minlength: null, maxlength: null };
            const limits = { ...(minlength && { minlength }), ...(maxlength && { maxlength }) };
            const { password, summary } = await host.ask({ request: "generate", origin, rules, ...limits }, waiting);
            // It is stored first: a password that a site has and you do not is lost.
            await keep(view, order.item, password, waiting);
            const isFilled = await inFrame(view, (origin, password) => vaubanPage.renew(origin, password), [origin, password]).catch(() => false);
            if (!isFilled) throw new Error(unfilled(view, order.item));
            return { summary };
        }
        case "keep": {
            const typed = await inFrame(view, (origin) => vaubanPage.read(origin), [origin]);
            if (!typed) throw new Error("There is no password in the form.");
            if (typed.account !== view.fields?.account) throw new Error("The form has changed. Nothing was saved.");
            return await keep(view, order.item, typed.password, waiting);
        }
        default: throw new Error("There is no such order.");
    }
}

/** @param {View} view @param {OfferedItem | null} item @param {string} password @param {(place: string) => void} waiting */
async function keep(view, item, password, waiting) {
    const request = item ? { request: "replace", item: item.item } : { request: "save", account: view.fields?.account ?? "" };
    await host.ask({ ...request, origin: view.origin, password }, waiting);
    return {};
}

/** @param {boolean | null | undefined} done */
function filled(done) {
    if (!done) throw new Error("The page has changed. Nothing was filled.");
    return {};
}

/**
 * What to say of a new password that is saved and could not be filled.
 * @param {View} view @param {OfferedItem | null} item
 */
function unfilled(view, item) {
    const start = "The page has changed. Nothing was filled, but the new password is saved.";
    if (item) return `${start} To get the old one back: vauban undo ${shellWord(item.name)}`;
    const name = `${new URL(view.origin).hostname}/${view.fields?.account ?? ""}`;
    return `${start} To delete it: vauban delete ${shellWord(name)}`;
}

/**
 * A text as one word of a command, without characters that are invisible or change the order of others.
 * @param {string | undefined} text
 */
function shellWord(text) {
    const word = (text ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
    return /^[\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * What the popup shows for the tab in front.
 * @param {(place: string) => void} waiting @returns {Promise<View>}
 */
async function open(waiting) {
    const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
    const origin = tab?.url ? new URL(tab.url).origin : "null";
    const offer = tab?.id === undefined ? null : await offers.offer(tab.id);
    if (tab?.id === undefined || !origin.startsWith("https://")) {
        // What you typed before can be saved wherever the site has led you.
        if (tab?.id !== undefined && offer) return { tab: tab.id, frame: 0, origin: offer.origin, items: [], fields: null, offer, isSilenced: false };
        throw new Error("Vauban fills only pages with https.");
    }
    // At once, since the host may have to be started.
    const [frames, { items }, isSilenced] = await Promise.all([
        inspect(tab.id, origin), host.ask({ request: "find", origin }, waiting), offers.isSilenced(origin),
    ]);
    const useful = frames.filter(({ result }) => result && (result.login || result.renewal || result.code));
    const chosen = useful.find(({ frameId }) => frameId === 0) ?? useful[0];
    return { tab: tab.id, frame: chosen?.frameId ?? 0, origin, items, fields: chosen?.result ?? null, offer, isSilenced };
}

/**
 * What each frame of a tab has to fill.
 * @param {number} tabId @param {string} origin
 */
async function inspect(tabId, origin) {
    const target = { tabId, allFrames: true };
    await chrome.scripting.executeScript({ target, files: ["page.js"] });
    return await chrome.scripting.executeScript({ target, func: (origin) => vaubanPage.inspect(origin), args: [origin] });
}

/**
 * Throws if the tab shows another page than the one that the popup was opened for.
 * @param {View} view
 */
async function checkOrigin(view) {
    const { url } = await chrome.tabs.get(view.tab);
    if (!url || new URL(url).origin !== view.origin) throw new Error("The page has changed. Nothing was filled.");
}

/**
 * Calls a function in the frame that the popup was opened for. The function checks the origin again, at the moment that it fills.
 * @template {unknown[]} Arguments @template Result
 * @param {View} view @param {(...values: Arguments) => Result} func @param {Arguments} args
 */
async function inFrame(view, func, args) {
    await checkOrigin(view);
    const [frame] = await chrome.scripting.executeScript({ target: { tabId: view.tab, frameIds: [view.frame] }, func, args });
    return frame?.result;
}
