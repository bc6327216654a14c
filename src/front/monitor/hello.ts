// How a page knows that the server is its own before it sends the token: the server proves that it knows it. Shared by both.

export const HELLO_PATH = "/api/hello";

/**
 * What the token signs. The port is in it: whatever else listens on this machine may ask the monitor, and must not be able to pass the
 * answer on as its own.
 */
export const helloText = (port: number | string, nonce: string): string => `holdfast monitor hello ${port} ${nonce}`;
