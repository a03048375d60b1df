// What you choose in the popup: fill, generate, save. Each asks the browser for the page's origin again, and the host for the item.

import { checkOrigin, inFrame, SilentPage } from "./frames.js";
import { takingBack } from "./words.js";

export class Orders {
    #host;

    /** @param {import("./host.js").Host} host */
    constructor(host) {
        this.#host = host;
    }

    /**
     * Fills an account and its password.
     * @param {View} view @param {OfferedItem} item @param {(place: string) => void} waiting
     */
    async fill(view, item, waiting) {
        await checkOrigin(view);
        const { origin } = view;
        // A page that asks for the account first needs no password yet.
        const reply = view.fields?.password ? await this.#host.ask({ request: "password", origin, item: item.item }, waiting) : null;
        const isFilled = await inFrame(view, (place, account, password) => vaubanPage.fill(place, account, password),
            /** @type {string} */ (reply?.account ?? item.account), /** @type {string | null} */ (reply?.password ?? null));
        return filled(isFilled);
    }

    /** @param {View} view @param {OfferedItem} item @param {(place: string) => void} waiting */
    async code(view, item, waiting) {
        await checkOrigin(view);
        const { code } = await this.#host.ask({ request: "code", origin: view.origin, item: item.item }, waiting);
        return filled(await inFrame(view, (place, code) => vaubanPage.code(place, code), /** @type {string} */ (code)));
    }

    /**
     * Generates a password, saves it, in an item if there is one, and fills it. It is saved first: a password that a site has and you do
     * not is lost.
     * @param {View} view @param {OfferedItem | null} item @param {boolean} mayLose @param {(place: string) => void} waiting
     */
    async renew(view, item, mayLose, waiting) {
        await checkOrigin(view);
        const { origin } = view;
        const account = view.fields?.account ?? "";
        if (!item && account === "") throw new Error("There is no account to save it for.");
        const { rules, minlength, maxlength } = view.fields?.renewal ?? { rules: "", minlength: null, maxlength: null };
        const limits = { ...(minlength && { minlength }), ...(maxlength && { maxlength }) };
        const { password, summary } = await this.#host.ask({ request: "generate", origin, rules, ...limits }, waiting);
        if (item && view.fields?.isEmpty) await this.#fillPresent(view, item, waiting);
        const store = () => this.#host.store({ origin, account, item, password, mayLose }, waiting);
        const put = () => inFrame(view, (place, password) => vaubanPage.renew(place, password), /** @type {string} */ (password));
        if (item && mayLose) return await forGood(put, store, summary);
        const { options } = await store();
        const isFilled = await put().catch((error) => error instanceof SilentPage ? null : false);
        if (isFilled) return { said: `Saved and filled: ${summary}.` };
        const why = isFilled === null ? "The page does not answer. It may not be filled" : "The page has changed. Nothing was filled";
        throw new Error(`${why}, but the new password is saved. ${takingBack(view, item, options)}`);
    }

    /**
     * Fills the present password, which the site demands with the new one, as long as the item has it.
     * @param {View} view @param {OfferedItem} item @param {(place: string) => void} waiting
     */
    async #fillPresent(view, item, waiting) {
        const { password } = await this.#host.ask({ request: "password", origin: view.origin, item: item.item }, waiting);
        const put = inFrame(view, (place, password) => vaubanPage.current(place, password), /** @type {string} */ (password));
        return filled(await put.catch(silent("Nothing was saved.")));
    }

    /**
     * Saves what is in the form, as the popup showed it.
     * @param {View} view @param {OfferedItem | null} item @param {boolean} mayLose @param {(place: string) => void} waiting
     */
    async keep(view, item, mayLose, waiting) {
        const read = inFrame(view, (place, number) => vaubanPage.read(place, number), view.fields?.typed ?? 0);
        const typed = await read.catch(silent("Nothing was saved."));
        if (!typed) throw new Error("The form has changed. Nothing was saved.");
        if (!item && typed.account === "") throw new Error("There is no account to save it for.");
        return saved(await this.#host.store({ origin: view.origin, ...typed, item, mayLose }, waiting));
    }
}

/**
 * Replaces a password that is lost by that. It is filled first, so that a page which cannot be filled costs nothing.
 * @param {() => Promise<boolean | undefined>} put @param {() => Promise<unknown>} store @param {string} summary
 */
async function forGood(put, store, summary) {
    filled(await put().catch(silent("Nothing was saved. Do not send what is in its form.")));
    await store().catch((error) => {
        throw new Error(`${error.message}. The new password is in the form, but it is not saved. Do not send it.`);
    });
    return { said: `Filled and saved: ${summary}. The password before is not kept.` };
}

/**
 * What the popup says of a password that is saved.
 * @param {{ history?: boolean }} reply
 */
export function saved({ history }) {
    return { said: history === false ? "Saved. The password before is not kept." : "Saved." };
}

/** @param {boolean | null | undefined} done */
function filled(done) {
    if (!done) throw new Error("The page has changed. Nothing was filled.");
    return {};
}

/**
 * Says what a page that does not answer means for an order.
 * @param {string} consequence @returns {(error: unknown) => never}
 */
function silent(consequence) {
    return (error) => {
        throw error instanceof SilentPage ? new Error(`The page does not answer. ${consequence}`) : error;
    };
}
