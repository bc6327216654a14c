// The version, put in by the build.
declare const __VERSION__: string;

export const VERSION: string = typeof __VERSION__ === "undefined" ? "0.1.0-dev" : __VERSION__;
