// What you typed and sent, until you say whether to save it: in the memory of the background script alone, one form for each tab, for two
// minutes. Nothing of it is stored. What is stored are the sites of which you said that they are never to be asked about.

import { HostError } from "./host.js";

const secondsMax = 120;
/** Forms of one tab that are compared with the keychain in that time, so that a page cannot keep it busy. */
const comparisonsMax = 20;
const tabsMax = 16;
const accountLengthMax = 1000;
const passwordLengthMax = 4000;
const sitesMax = 1000;
const sitesKey = "sites never asked about";

export class Offers {
    #host;
    /** @type {Map<number, SentForms>} */
    #tabs = new Map();
    #last = 0;

    /** @param {import("./host.js").Host} host */
    constructor(host) {
        this.#host = host;
        chrome.tabs.onUpdated.addListener((tab) => this.#mark(tab));
        chrome.tabs.onRemoved.addListener((tab) => {
            this.#drop(tab);
            this.#tabs.delete(tab);
        });
    }

    /**
     * Takes a form that was sent in a page. Which page that is, the browser says.
     * @param {MessageSender} sender @param {any} message
     */
    take(sender, message) {
        const place = page(sender);
        const sent = form(message);
        if (!place || !sent) return;
        const { tab, origin } = place;
        const forms = this.#of(tab);
        // The latest form is the one that you mean, whatever becomes of it.
        this.#drop(tab);
        // The page asks for the account first, or has a password that you did not type.
        if (sent.password === "") {
            const first = { origin, account: sent.account };
            forms.first = first;
            setTimeout(() => {
                if (forms.first === first) forms.first = null;
            }, secondsMax * 1000);
            return;
        }
        const account = sent.account || (forms.first?.origin === origin ? forms.first.account : "");
        if (account === "") return;
        this.#last += 1;
        const number = this.#last;
        forms.waiting = {
            ...sent, account, origin, number, isCompared: false, isOffered: false,
            timer: setTimeout(() => this.#drop(tab, number), secondsMax * 1000),
        };
        // The connection also keeps the browser from ending this script, and with it the form.
        this.#host.retain();
        forms.looking ??= this.#look(tab, forms).finally(() => {
            forms.looking = null;
        });
    }

    /**
     * What to offer in a tab, as the keychain is now; null if there is nothing.
     * @param {number} tab @returns {Promise<Offer | null>}
     */
    async offer(tab) {
        await this.#tabs.get(tab)?.looking;
        const form = this.#tabs.get(tab)?.waiting;
        return form ? await this.#compare(tab, form) : null;
    }

    /**
     * Saves what was offered, in the item that was offered, if any.
     * @param {number} tab @param {Offer} offer @param {(place: string) => void} waiting
     */
    async accept(tab, { number, item }, waiting) {
        const form = this.#tabs.get(tab)?.waiting;
        if (form?.number !== number) throw new Error("What you typed is not there any more. Nothing was saved.");
        const { origin, account, password } = form;
        const request = item ? { request: "replace", item: item.item } : { request: "save", account };
        await this.#host.ask({ ...request, origin, password }, waiting);
        this.#drop(tab, number);
    }

    /** @param {number} tab @param {Offer} offer */
    decline(tab, { number }) {
        this.#drop(tab, number);
    }

    /** @param {string} origin */
    async isSilenced(origin) {
        return (await sites()).includes(origin);
    }

    /** @param {string} origin @param {boolean} isSilenced */
    async silence(origin, isSilenced) {
        const others = (await sites()).filter((site) => site !== origin);
        await chrome.storage.local.set({ [sitesKey]: isSilenced ? [...others, origin].slice(-sitesMax) : others });
    }

    /** @param {number} tab */
    #of(tab) {
        const forms = this.#tabs.get(tab) ?? { times: [], waiting: null, first: null, looking: null };
        this.#tabs.delete(tab);
        this.#tabs.set(tab, forms);
        const [oldest] = this.#tabs.keys();
        if (this.#tabs.size > tabsMax && oldest !== undefined) {
            this.#drop(oldest);
            this.#tabs.delete(oldest);
        }
        return forms;
    }

    /**
     * Compares what waits in a tab, one form after the other and only the latest, and marks the icon if there is something to offer. Of a
     * locked keychain nothing is known, so you decide after you have unlocked it.
     * @param {number} tab @param {SentForms} forms
     */
    async #look(tab, forms) {
        while (forms.waiting && !forms.waiting.isCompared) {
            const form = forms.waiting;
            const now = Date.now();
            form.isCompared = true;
            forms.times = forms.times.filter((time) => now - time < secondsMax * 1000);
            if (forms.times.length >= comparisonsMax) return this.#drop(tab, form.number);
            forms.times.push(now);
            try {
                form.isOffered = await this.#compare(tab, form) !== null;
            } catch (error) {
                if (error instanceof HostError && error.locked) form.isOffered = true;
                else this.#drop(tab, form.number);
            }
            this.#mark(tab);
        }
    }

    /** @param {number} tab @param {WaitingForm} form @returns {Promise<Offer | null>} */
    async #compare(tab, { origin, account, password, isNew, number }) {
        if (!await this.isSilenced(origin)) {
            const { stored, items } = await this.#host.ask({ request: "compare", origin, account, password }, () => {});
            // What cannot be compared without you counts as the same, unless the form was one for a new password.
            if (stored !== "same" && (stored !== "unread" || isNew)) return { number, origin, account, item: items[0] ?? null };
        }
        this.#drop(tab, number);
        return null;
    }

    /**
     * Forgets what waits in a tab: all, or what has this number.
     * @param {number} tab @param {number} [number]
     */
    #drop(tab, number) {
        const forms = this.#tabs.get(tab);
        if (!forms?.waiting || (number !== undefined && forms.waiting.number !== number)) return;
        clearTimeout(forms.waiting.timer);
        if (forms.waiting.isOffered) label(tab, "", "Vauban");
        forms.waiting = null;
        this.#host.release();
    }

    /**
     * Shows that something is offered. The browser takes the mark away with each page.
     * @param {number} tab
     */
    #mark(tab) {
        const form = this.#tabs.get(tab)?.waiting;
        if (form?.isOffered) label(tab, "+", `Vauban: save the password that you typed on ${new URL(form.origin).host}?`);
    }
}

/** @param {number} tabId @param {string} text @param {string} title */
function label(tabId, text, title) {
    // The tab may be gone.
    for (const done of [chrome.action.setBadgeText({ tabId, text }), chrome.action.setTitle({ tabId, title })]) void done.catch(() => {});
}

/** @returns {Promise<string[]>} */
async function sites() {
    const stored = (await chrome.storage.local.get(sitesKey))[sitesKey];
    return Array.isArray(stored) ? stored.filter((site) => typeof site === "string") : [];
}

/**
 * The tab and origin of a message: with https, and not in a private window, of which nothing is to be kept. `origin` is what the browser
 * knows of the page or frame, whatever its process says. A frame within another site sends nothing, and is not taken if the browser says so.
 * @param {MessageSender} sender @returns {{ tab: number, origin: string } | null}
 */
function page({ id, tab, frameId, origin }) {
    if (id !== chrome.runtime.id || tab?.id === undefined || tab.incognito || !origin?.startsWith("https://")) return null;
    if (frameId !== 0 && tab.url !== undefined && new URL(tab.url).origin !== origin) return null;
    return { tab: tab.id, origin };
}

/**
 * The form in a message, which can be anything.
 * @param {any} message @returns {SentForm | null}
 */
function form(message) {
    const { account, password, isNew } = message ?? {};
    if (typeof account !== "string" || typeof password !== "string" || typeof isNew !== "boolean") return null;
    const fits = account.length <= accountLengthMax && password.length <= passwordLengthMax && !/\p{Cc}/u.test(account);
    return fits ? { account, password, isNew } : null;
}
