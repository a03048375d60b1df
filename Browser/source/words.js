// Commands for you to copy, in what the popup says.

/**
 * The command that takes a new password back: to the one before in an item, or, without one, the whole new item. `options` select that, if
 * the host says them.
 * @param {View} view @param {OfferedItem | null} item @param {string[] | undefined} options
 */
export function takingBack(view, item, options) {
    if (item) return `To get the old one back: ${command("undo", item.options ?? [item.name ?? ""])}`;
    const name = `${new URL(view.origin).hostname}/${view.fields?.account ?? ""}`;
    return `To delete it: ${command("delete", options ?? [name])}`;
}

/** @param {string} verb @param {string[]} words */
function command(verb, words) {
    return ["vauban", verb, ...words.map(shellWord)].join(" ");
}

/**
 * A text as one word of a command. Characters that are invisible or change the order of others are written out: then it names nothing.
 * @param {string} text
 */
function shellWord(text) {
    const word = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
