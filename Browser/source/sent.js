// Which forms that you sent count, whose password they have, and whether you are asked to save it. These are rules alone: they keep nothing
// and ask nobody, and Tests/Scripts/browser-rules.sh tries them without a browser.

const accountLengthMax = 1000;
const passwordLengthMax = 4000;

/**
 * The tab and origin of a message, if it is from this extension: with https, and not in a private window, of which nothing is to be kept.
 * `origin` is what the browser knows of the page or frame, whatever its process says. A frame within another site sends nothing, and is not
 * taken if the browser says so.
 * @param {MessageSender} sender @param {string} extension @returns {{ tab: number, origin: string } | null}
 */
export function placeOf({ id, tab, frameId, origin }, extension) {
    if (id !== extension || tab?.id === undefined || tab.incognito || !origin?.startsWith("https://")) return null;
    if (frameId !== 0 && tab.url !== undefined && new URL(tab.url).origin !== origin) return null;
    return { tab: tab.id, origin };
}

/**
 * The form in a message, which can be anything.
 * @param {any} message @returns {SentForm | null}
 */
export function formIn(message) {
    const { account, password, isNew } = message ?? {};
    if (typeof account !== "string" || typeof password !== "string" || typeof isNew !== "boolean") return null;
    const fits = account.length <= accountLengthMax && password.length <= passwordLengthMax && !/\p{Cc}/u.test(account);
    return fits ? { account, password, isNew } : null;
}

/**
 * Whose password a form has: its own account, or the one that the same site asked for first. Empty if that is not known, and you say whose
 * password a new one replaces; null if the form is then none to save.
 * @param {SentForm} sent @param {string} origin @param {{ origin: string, account: string } | null} first
 */
export function accountOf(sent, origin, first) {
    const account = sent.account || (first?.origin === origin ? first.account : "");
    return account === "" && !sent.isNew ? null : account;
}

/**
 * Whether a password is offered to be saved, by what the host says of it. What cannot be compared without you counts as the same, unless the
 * form was one for a new password.
 * @param {string} stored @param {boolean} isNew
 */
export function isOffered(stored, isNew) {
    return stored === "unread" ? isNew : stored !== "same";
}
