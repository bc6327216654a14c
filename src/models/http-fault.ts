// What a failed connection means: trouble that passes and is retried, or a mistake (address, certificate, proxy) that a person has to mend.
import type { NamedProxy } from "./http-transport.ts";

export interface ConnectionFault {
  kind: "network" | "invalid";
  message: string;
}

const CERTIFICATE = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_UNTRUSTED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

const OLLAMA_PORT = "11434";

export function connectionFault(
  error: NodeJS.ErrnoException,
  url: URL,
  { hasAnswered, proxy }: { hasAnswered: boolean; proxy?: NamedProxy | undefined },
): ConnectionFault {
  const code = codeOf(error);
  if (proxy && !(code !== undefined && CERTIFICATE.has(code))) return proxyFault(error, url, { hasAnswered, proxy });
  const { host, port } = url;
  if (code !== undefined && CERTIFICATE.has(code)) {
    return {
      kind: "invalid",
      message: `the certificate of ${host} is not trusted (${code}): if it is your company's own, name its file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE`,
    };
  }
  if (code === "ECONNREFUSED" && isThisMachine(url) && !hasAnswered) {
    const start =
      port === OLLAMA_PORT ? "is `ollama serve` running?" : "is the server running, and is the base URL right?";
    return { kind: "invalid", message: `nothing listens on ${host}: ${start}` };
  }
  if (code === "ENOTFOUND" && !hasAnswered) {
    return {
      kind: "invalid",
      message: `there is no host ${url.hostname}: check the base URL, and that you are online`,
    };
  }
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return {
      kind: "invalid",
      message: `${host} does not speak ${url.protocol.slice(0, -1)} (${code}): check the base URL`,
    };
  }
  return { kind: "network", message: `cannot reach ${host} (${code ?? error.message})` };
}

/** The connection is made to the proxy: what fails is there, or on its way. */
function proxyFault(
  error: NodeJS.ErrnoException,
  url: URL,
  { hasAnswered, proxy }: { hasAnswered: boolean; proxy: NamedProxy },
): ConnectionFault {
  const code = codeOf(error);
  const status = "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : undefined;
  const named = `the proxy ${proxy.host} (${proxy.variable})`;
  if (status !== undefined) return proxyAnswer(status, url, proxy);
  if (code === "ECONNREFUSED" && !hasAnswered)
    return { kind: "invalid", message: `nothing listens at ${named}: start it, ${without(url, proxy)}` };
  if (code === "ENOTFOUND" && !hasAnswered)
    return {
      kind: "invalid",
      message: `there is no host ${proxy.host}, which ${proxy.variable} names as the proxy: ${without(url, proxy)}`,
    };
  return { kind: "network", message: `cannot reach ${url.host} through ${named} (${code ?? error.message})` };
}

const without = (url: URL, { variable }: NamedProxy): string =>
  `mend ${variable}, or name ${url.hostname} in NO_PROXY to go without`;

/** What a proxy says instead of making the connection. Only its own troubles pass by themselves. */
export function proxyAnswer(status: number, url: URL, proxy: NamedProxy): ConnectionFault {
  const named = `the proxy ${proxy.host} (${proxy.variable})`;
  if (status === 407) {
    const how = `write them into it, as in ${proxy.variable}=http://user:password@${proxy.host}`;
    return { kind: "invalid", message: `${named} wants a user and a password (407): ${how}` };
  }
  const says = `${named} does not connect to ${url.host} (${status})`;
  return status >= 500
    ? { kind: "network", message: says }
    : { kind: "invalid", message: `${says}: ${without(url, proxy)}` };
}

/** Where a name has several addresses, each has failed. */
function codeOf(error: NodeJS.ErrnoException): string | undefined {
  const [first = error]: NodeJS.ErrnoException[] = error instanceof AggregateError ? error.errors : [];
  return first.code;
}

const isThisMachine = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
