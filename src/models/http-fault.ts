// What a connection that fails means: the weather, which passes, or something that stays wrong until a person mends it.

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
  { hasAnswered }: { hasAnswered: boolean },
): ConnectionFault {
  const code = codeOf(error);
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

/** Where a name has several addresses, each has failed. */
function codeOf(error: NodeJS.ErrnoException): string | undefined {
  if (error instanceof AggregateError) return (error.errors[0] as NodeJS.ErrnoException | undefined)?.code;
  return error.code;
}

const isThisMachine = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
