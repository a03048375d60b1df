// What you typed and sent, until you say whether to save it: in the memory of the background script alone, one form for each tab, for two
// minutes. Nothing of it is stored. Which forms count, sent.js says.

import { HostError } from "./host.js";
import { Kept } from "./kept.js";
import { accountOf, formIn, isOffered, placeOf } from "./sent.js";
import { isSilenced } from "./silence.js";

const secondsMax = 120;
/** Forms of one tab that are compared with the keychain in that time, so that a page cannot keep it busy. */
const comparisonsMax = 20;
const tabsMax = 16;

export class Offers {
    #host;
    #marks;
    /** The latest form of each tab, until you answer. @type {Kept<WaitingForm>} */
    #waiting;
    /** @type {Map<number, SentForms>} */
    #tabs = new Map();

    /** @param {import("./host.js").Host} host @param {import("./marks.js").Marks} marks */
    constructor(host, marks) {
        this.#host = host;
        this.#marks = marks;
        this.#waiting = new Kept(host, secondsMax, (tab) => marks.clear(tab, "offer"));
        chrome.tabs.onRemoved.addListener((tab) => this.#forget(tab));
    }

    /**
     * Takes a form that was sent in a page. Which page that is, the browser says.
     * @param {MessageSender} sender @param {any} message
     */
    take(sender, message) {
        const place = placeOf(sender, chrome.runtime.id);
        const sent = formIn(message);
        if (!place || !sent) return;
        const { tab, origin } = place;
        const forms = this.#of(tab);
        // The latest form is the one that you mean, whatever becomes of it.
        this.#waiting.drop(tab);
        // The page asks for the account first, or has a password that you did not type.
        if (sent.password === "") return remember(forms, { origin, account: sent.account });
        const account = accountOf(sent, origin, forms.first);
        if (account === null) return;
        this.#waiting.keep(tab, { ...sent, account, origin, isCompared: false, isOffered: false });
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
        const kept = this.#waiting.of(tab);
        return kept && await this.#compare(tab, kept.number, kept.value);
    }

    /**
     * Saves what was offered, in an item that was offered, or, if there is none, as a new one. Returns what the host says.
     * @param {number} tab @param {number} number @param {OfferedItem | null} item @param {boolean} mayLose
     * @param {(place: string) => void} waiting
     */
    async accept(tab, number, item, mayLose, waiting) {
        const kept = this.#waiting.of(tab);
        if (kept?.number !== number) throw new Error("What you typed is not there any more. Nothing was saved.");
        const { origin, account, password } = kept.value;
        if (!item && account === "") throw new Error("There is no account to save it for.");
        const reply = await this.#host.store({ origin, account, item, password, mayLose }, waiting);
        this.#waiting.drop(tab, number);
        return reply;
    }

    /** @param {number} tab @param {number} number */
    decline(tab, number) {
        this.#waiting.drop(tab, number);
    }

    /** @param {number} tab */
    #of(tab) {
        const forms = this.#tabs.get(tab) ?? { times: [], first: null, firstTimer: undefined, looking: null };
        this.#tabs.delete(tab);
        this.#tabs.set(tab, forms);
        const [oldest] = this.#tabs.keys();
        if (this.#tabs.size > tabsMax && oldest !== undefined) this.#forget(oldest);
        return forms;
    }

    /** @param {number} tab */
    #forget(tab) {
        this.#waiting.drop(tab);
        clearTimeout(this.#tabs.get(tab)?.firstTimer);
        this.#tabs.delete(tab);
    }

    /**
     * Compares what waits in a tab, one form after the other and only the latest, and marks the icon if there is something to offer. Of a
     * locked keychain nothing is known, so you decide after you have unlocked it.
     * @param {number} tab @param {SentForms} forms
     */
    async #look(tab, forms) {
        for (let kept = this.#waiting.of(tab); kept && !kept.value.isCompared; kept = this.#waiting.of(tab)) {
            const { number, value: form } = kept;
            const now = Date.now();
            form.isCompared = true;
            forms.times = forms.times.filter((time) => now - time < secondsMax * 1000);
            if (forms.times.length >= comparisonsMax) return this.#waiting.drop(tab, number);
            forms.times.push(now);
            try {
                form.isOffered = await this.#compare(tab, number, form) !== null;
            } catch (error) {
                if (error instanceof HostError && error.locked) form.isOffered = true;
                else this.#waiting.drop(tab, number);
            }
            this.#mark(tab);
        }
    }

    /**
     * What to offer of a form; forgets one of which nothing is offered.
     * @param {number} tab @param {number} number @param {WaitingForm} form @returns {Promise<Offer | null>}
     */
    async #compare(tab, number, form) {
        const { origin, account } = form;
        const found = await isSilenced(origin) ? null : await this.#find(form);
        if (found) return { number, origin, account, ...found };
        this.#waiting.drop(tab, number);
        return null;
    }

    /**
     * The items that may get what you typed: of its account, or, without one, each of the site; none if it is a new account. Null if there
     * is nothing to offer.
     * @param {WaitingForm} form @returns {Promise<{ items: OfferedItem[], keepsHistory: boolean } | null>}
     */
    async #find({ origin, account, password, isNew }) {
        // The first request for a form: unlike "find", it starts no keychain that you have stopped.
        const { stored, items, history } = await this.#host.ask({ request: "compare", origin, account, password }, () => {});
        if (!isOffered(stored, isNew)) return null;
        if (account !== "") return { items, keepsHistory: history !== false };
        const all = await this.#host.ask({ request: "find", origin }, () => {});
        const passwords = all.items.filter((/** @type {OfferedItem} */ item) => item.purpose === "password");
        return passwords.length > 0 ? { items: passwords, keepsHistory: history !== false } : null;
    }

    /**
     * Shows that something is offered.
     * @param {number} tab
     */
    #mark(tab) {
        const form = this.#waiting.of(tab)?.value;
        if (!form?.isOffered) return;
        this.#marks.set(tab, "offer", "+", `Vauban: save the password that you typed on ${new URL(form.origin).host}?`);
    }
}

/**
 * Remembers the account of a page that asks for the account first, for the form that follows.
 * @param {SentForms} forms @param {{ origin: string, account: string }} first
 */
function remember(forms, first) {
    // One timer for each tab, however many of these a page sends.
    clearTimeout(forms.firstTimer);
    forms.first = first;
    forms.firstTimer = setTimeout(() => {
        forms.first = null;
    }, secondsMax * 1000);
}
