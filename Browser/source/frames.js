// What background.js has done in the page in front: in one of its frames, by page.js, and in time.

/**
 * A page answers in milliseconds, and one that is being built within a second or two. You are not to wait longer before you are told that
 * one does not.
 */
const answerMilliseconds = 5000;
/** What the page has not begun by then, it does not begin any more. The rest is for the answer. */
const startMilliseconds = 4000;

/** The page did not answer in time. */
export class SilentPage extends Error {
    constructor() {
        super("The page does not answer. It may not be filled.");
    }
}

/** Numbers what popups show. */
let last = 0;

/**
 * What a tab has to fill: in the frame of the tab itself, otherwise in the first one that has something. What blocks in another frame keeps
 * nobody from the tab's own. Throws nothing: what you typed before can be saved whatever the tab shows.
 * @param {number} tabId @param {string} origin
 */
export async function inspect(tabId, origin) {
    last += 1;
    let isSilent = false;
    /** @type {{ frameId: number, result?: FoundFields | null }[]} */
    let frames = [];
    for (const where of [{ frameIds: [0] }, { allFrames: true }]) {
        try {
            frames = await look({ tabId, ...where }, origin, last);
        } catch (error) {
            // The browser refuses some pages to extensions, such as those of its own about a site that cannot be reached.
            isSilent = error instanceof SilentPage;
        }
        const useful = frames.filter(({ result }) => result && (result.login || result.renewal || result.code || result.isShown));
        const chosen = useful.find(({ frameId }) => frameId === 0) ?? useful[0];
        if (chosen || isSilent) return { frame: chosen?.frameId ?? 0, fields: chosen?.result ?? null, isSilent, isClosed: false };
    }
    return { frame: 0, fields: null, isSilent, isClosed: frames.length === 0 };
}

/** @param {InjectionTarget} target @param {string} origin @param {number} number */
async function look(target, origin, number) {
    const injected = chrome.scripting.executeScript({ target, files: ["sight.js", "page.js", "typed.js"] });
    return await inTime(injected.then(() => chrome.scripting.executeScript({
        target, func: (origin, number) => vaubanPage.inspect(origin, number), args: /** @type {[string, number]} */ ([origin, number]),
    })));
}

/**
 * Throws if the tab shows another page than the one that the popup was opened for.
 * @param {View} view
 */
export async function checkOrigin(view) {
    const { url } = await chrome.tabs.get(view.tab);
    if (!url || new URL(url).origin !== view.origin) throw new Error("The page has changed. Nothing was filled.");
}

/**
 * Calls a function in the frame that the popup was opened for. The function checks its place again, at the moment that it fills: the
 * origin, and the time, since a page that blocks comes to it when it ends. Throws `SilentPage` if there is no answer in time.
 * @template {unknown[]} Arguments @template Result
 * @param {View} view @param {(place: Place, ...values: Arguments) => Result} func @param {Arguments} args
 */
export async function inFrame(view, func, ...args) {
    await checkOrigin(view);
    const place = { origin: view.origin, until: Date.now() + startMilliseconds };
    const target = { tabId: view.tab, frameIds: [view.frame] };
    const [frame] = await inTime(chrome.scripting.executeScript({ target, func, args: [place, ...args] }));
    return frame?.result;
}

/** @template Result @param {Promise<Result>} answer */
async function inTime(answer) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Promise<never>} */
    const end = new Promise((_, failed) => {
        timer = setTimeout(() => failed(new SilentPage()), answerMilliseconds);
    });
    return await Promise.race([answer, end]).finally(() => clearTimeout(timer));
}
