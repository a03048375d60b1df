// What the extension uses of the browsers' interface, which is the same in both, and what TypeScript does not know of the pages' one.

interface Port {
    postMessage(message: object): void;
    disconnect(): void;
    onMessage: { addListener(listener: (message: any) => void): void };
    onDisconnect: { addListener(listener: (port: Port) => void): void };
    /** The reason in Firefox; Chromium has it in runtime.lastError. */
    error?: { message: string };
    name: string;
    sender?: { id?: string; url?: string; tab?: object };
}

interface InjectionTarget {
    tabId: number;
    allFrames?: boolean;
    frameIds?: number[];
}

interface ExtensionInterface {
    runtime: {
        id: string;
        lastError?: { message: string };
        getURL(path: string): string;
        connect(options: { name: string }): Port;
        connectNative(name: string): Port;
        onConnect: { addListener(listener: (port: Port) => void): void };
    };
    tabs: {
        query(options: { active: boolean; lastFocusedWindow: boolean }): Promise<{ id?: number; url?: string }[]>;
        get(id: number): Promise<{ url?: string }>;
    };
    scripting: {
        executeScript(injection: { target: InjectionTarget; files: string[] }): Promise<unknown>;
        executeScript<Arguments extends unknown[], Result>(injection: {
            target: InjectionTarget;
            func: (...values: Arguments) => Result;
            args: Arguments;
        }): Promise<{ frameId: number; result?: Result }[]>;
    };
}

declare var chrome: ExtensionInterface;

/** What `page.js` found in one frame. */
interface FoundFields {
    /** Whether there are fields to log in with: an account, a password, or both. */
    login: boolean;
    password: boolean;
    /** Whether there are fields for a new password, and what the page demands of it. */
    renewal: null | { rules: string; minlength: number | null; maxlength: number | null };
    code: boolean;
    /** The account that the form shows, and whether a password was typed. */
    account: string;
    typed: boolean;
}

interface PageFields {
    inspect(origin: string): FoundFields | null;
    fill(origin: string, account: string, password: string | null): boolean;
    renew(origin: string, password: string): boolean;
    code(origin: string, code: string): boolean;
    read(origin: string): { account: string; password: string } | null;
}

declare var vaubanPage: PageFields;

/** An item that the host offers for a site. */
interface OfferedItem {
    item: string;
    purpose: "password" | "code";
    title: string;
    account: string;
    why: string;
    asks: boolean;
}

/** What the popup shows. */
interface View {
    tab: number;
    frame: number;
    origin: string;
    items: OfferedItem[];
    fields: FoundFields | null;
}

interface Element {
    checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean;
}
