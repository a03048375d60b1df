// What you typed and sent, until you say whether to save it: in the memory of the background script alone, one form for each tab, for two
// minutes. Nothing of it is stored.

import { HostError } from "./host.js";
import { isSilenced } from "./silence.js";

const secondsMax = 120;
/** Forms of one tab that are compared with the keychain in that time, so that a page cannot keep it busy. */
const comparisonsMax = 20;
const tabsMax = 16;
const accountLengthMax = 1000;
const passwordLengthMax = 4000;

export class Offers {
    #host;
    #marks;
    /** @type {Map<number, SentForms>} */
    #tabs = new Map();
    #last = 0;

    /** @param {import("./host.js").Host} host @param {import("./marks.js").Marks} marks */
    constructor(host, marks) {
        this.#host = host;
        this.#marks = marks;
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
        // Without an account, you say whose password a new one replaces.
        if (account === "" && !sent.isNew) return;
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
     * Saves what was offered, in an item that was offered, or, if there is none, as a new one. Returns what the host says.
     * @param {number} tab @param {number} number @param {OfferedItem | null} item @param {boolean} mayLose
     * @param {(place: string) => void} waiting
     */
    async accept(tab, number, item, mayLose, waiting) {
        const form = this.#tabs.get(tab)?.waiting;
        if (form?.number !== number) throw new Error("What you typed is not there any more. Nothing was saved.");
        const { origin, account, password } = form;
        if (!item && account === "") throw new Error("There is no account to save it for.");
        const reply = await this.#host.store({ origin, account, item, password, mayLose }, waiting);
        this.#drop(tab, number);
        return reply;
    }

    /** @param {number} tab @param {number} number */
    decline(tab, number) {
        this.#drop(tab, number);
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
    async #compare(tab, form) {
        const { origin, account, number } = form;
        const found = await isSilenced(origin) ? null : await this.#find(form);
        if (found) return { number, origin, account, ...found };
        this.#drop(tab, number);
        return null;
    }

    /**
     * The items that may get what you typed: of its account, or, without one, each of the site; none if it is a new account. Null if there
     * is nothing to offer.
     * @param {WaitingForm} form @returns {Promise<{ items: OfferedItem[], keepsHistory: boolean } | null>}
     */
    async #find({ origin, account, password, isNew }) {
        if (account === "") {
            const { items, history } = await this.#host.ask({ request: "find", origin }, () => {});
            const passwords = items.filter((/** @type {OfferedItem} */ item) => item.purpose === "password");
            return passwords.length > 0 ? { items: passwords, keepsHistory: history !== false } : null;
        }
        const { stored, items, history } = await this.#host.ask({ request: "compare", origin, account, password }, () => {});
        // What cannot be compared without you counts as the same, unless the form was one for a new password.
        return stored !== "same" && (stored !== "unread" || isNew) ? { items, keepsHistory: history !== false } : null;
    }

    /**
     * Forgets what waits in a tab: all, or what has this number.
     * @param {number} tab @param {number} [number]
     */
    #drop(tab, number) {
        const forms = this.#tabs.get(tab);
        if (!forms?.waiting || (number !== undefined && forms.waiting.number !== number)) return;
        clearTimeout(forms.waiting.timer);
        this.#marks.clear(tab, "offer");
        forms.waiting = null;
        this.#host.release();
    }

    /**
     * Shows that something is offered.
     * @param {number} tab
     */
    #mark(tab) {
        const form = this.#tabs.get(tab)?.waiting;
        if (!form?.isOffered) return;
        this.#marks.set(tab, "offer", "+", `Vauban: save the password that you typed on ${new URL(form.origin).host}?`);
    }
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
