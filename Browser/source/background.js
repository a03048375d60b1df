// Between the popup, the page and the host. It takes orders from the popup alone, and asks the browser for the page's origin each time.
// Pages tell it what you typed and sent; it keeps nothing but that, as offers.js says, and what came of your orders, as outcomes.js says.

import { inspect } from "./frames.js";
import { Host, HostError } from "./host.js";
import { Marks } from "./marks.js";
import { Offers } from "./offers.js";
import { Orders, saved } from "./orders.js";
import { Outcomes } from "./outcomes.js";
import { isSilenced, silence } from "./silence.js";

const host = new Host();
const marks = new Marks();
const offers = new Offers(host, marks);
const outcomes = new Outcomes(host, marks);
const orders = new Orders(host);

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
        outcomes.mark();
        host.release();
    });
    /** @param {object} message */
    const tell = (message) => {
        if (isOpen) port.postMessage(message);
    };
    port.onMessage.addListener(async (order) => {
        if (order.order === "shown") return outcomes.shown(order.tab, order.number);
        // An order is carried out although the popup closes.
        host.retain();
        const reply = await carriedOut(order, tell);
        const sentence = reply.error ?? reply.done?.said;
        const outcome = order.view && sentence ? outcomes.keep(order.view.tab, sentence) : null;
        if (!isOpen) outcomes.mark();
        tell({ ...reply, outcome });
        host.release();
    });
});

/**
 * @param {any} order @param {(message: object) => void} tell
 * @returns {Promise<{ done?: any, error?: string, locked?: boolean }>}
 */
async function carriedOut(order, tell) {
    try {
        return { done: await obey(order, tell) };
    } catch (error) {
        return { error: error instanceof Error ? error.message : String(error), locked: error instanceof HostError && error.locked };
    }
}

/** @param {any} order @param {(message: object) => void} tell */
async function obey(order, tell) {
    /** @param {string} place */
    const waiting = (place) => tell({ waiting: place });
    /** @type {View} */
    const view = order.view;
    /** @type {OfferedItem} */
    const item = order.item;
    switch (order.order) {
        case "open": return await open(tell, waiting);
        case "unlock": return await host.ask({ request: "unlock" }, waiting);
        case "accept": return saved(await offers.accept(view.tab, view.offer?.number ?? 0, item, order.mayLose, waiting));
        case "decline": return offers.decline(view.tab, view.offer?.number ?? 0);
        case "silence":
            if (view.offer) offers.decline(view.tab, view.offer.number);
            return await silence(order.origin, order.isSilenced);
        case "fill": return await orders.fill(view, item, waiting);
        case "code": return await orders.code(view, item, waiting);
        case "renew": return await orders.renew(view, item, order.mayLose, waiting);
        case "keep": return await orders.keep(view, item, order.mayLose, waiting);
        default: throw new Error("There is no such order.");
    }
}

/**
 * What the popup shows for the tab in front. What it could not show before, it is told at once.
 * @param {(message: object) => void} tell @param {(place: string) => void} waiting @returns {Promise<View>}
 */
async function open(tell, waiting) {
    const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
    const outcome = tab?.id === undefined ? null : outcomes.of(tab.id);
    if (outcome) tell({ earlier: outcome });
    const origin = tab?.url ? new URL(tab.url).origin : "null";
    const id = tab?.id;
    if (id === undefined || !origin.startsWith("https://")) {
        const offer = id === undefined ? null : await offers.offer(id);
        if (id === undefined || !offer) throw new Error("Vauban fills only pages with https.");
        // What you typed before can be saved wherever the site has led you.
        const nothing = { frame: 0, items: [], fields: null, isSilent: false, isClosed: false, hasMore: false, isSilenced: false };
        return { ...nothing, tab: id, origin: offer.origin, keepsHistory: offer.keepsHistory, offer };
    }
    // At once, since the host may have to be started. What you typed is compared after "find", which also starts the keychain.
    const finding = host.ask({ request: "find", origin }, waiting);
    const [found, { items, more, history }, offer, isNeverAsked] = await Promise.all([
        inspect(id, origin), finding, finding.then(() => offers.offer(id)), isSilenced(origin),
    ]);
    return {
        ...found, tab: id, origin, items, hasMore: more === true, keepsHistory: history !== false, offer, isSilenced: isNeverAsked,
    };
}
