// The sites of which you said that they are never to be asked about, which is all that the extension stores.

const sitesMax = 1000;
const sitesKey = "sites never asked about";

/** @param {string} origin */
export async function isSilenced(origin) {
    return (await sites()).includes(origin);
}

/** @param {string} origin @param {boolean} isSilenced */
export async function silence(origin, isSilenced) {
    const others = (await sites()).filter((site) => site !== origin);
    await chrome.storage.local.set({ [sitesKey]: isSilenced ? [...others, origin].slice(-sitesMax) : others });
}

/** @returns {Promise<string[]>} */
async function sites() {
    const stored = (await chrome.storage.local.get(sitesKey))[sitesKey];
    return Array.isArray(stored) ? stored.filter((site) => typeof site === "string") : [];
}
