// The mark at the toolbar icon: one for each tab, of what is most urgent there. The browser takes it away with each page.

/** The most urgent first. */
const reasons = /** @type {const} */ (["outcome", "offer"]);

/** @typedef {{ text: string, title: string }} Mark */

export class Marks {
    /** @type {Map<number, { [reason in typeof reasons[number]]?: Mark }>} */
    #tabs = new Map();

    constructor() {
        chrome.tabs.onUpdated.addListener((tab) => {
            if (this.#tabs.has(tab)) this.#show(tab);
        });
        chrome.tabs.onRemoved.addListener((tab) => this.#tabs.delete(tab));
    }

    /** @param {number} tab @param {typeof reasons[number]} reason @param {string} text @param {string} title */
    set(tab, reason, text, title) {
        this.#tabs.set(tab, { ...this.#tabs.get(tab), [reason]: { text, title } });
        this.#show(tab);
    }

    /** @param {number} tab @param {typeof reasons[number]} reason */
    clear(tab, reason) {
        const marks = this.#tabs.get(tab);
        if (!marks?.[reason]) return;
        delete marks[reason];
        this.#show(tab);
        if (Object.keys(marks).length === 0) this.#tabs.delete(tab);
    }

    /** @param {number} tabId */
    #show(tabId) {
        const marks = this.#tabs.get(tabId);
        const { text, title } = reasons.map((reason) => marks?.[reason]).find((mark) => mark) ?? { text: "", title: "Vauban" };
        // The tab may be gone.
        for (const done of [chrome.action.setBadgeText({ tabId, text }), chrome.action.setTitle({ tabId, title })])
            void done.catch(() => {});
    }
}
