// Which values of an environment are secrets: by whole words of the variable's name, and by what the value looks like.

/** Shorter values are words that stand everywhere. */
const MIN_LENGTH = 8;
/** A single word up to this length is a setting (`AUTH=kerberos`) or the default of a test database (`PASSWORD=postgres`). */
const LONGEST_WORD = 20;

/** Says beyond doubt that the value is one. Long words also as the end of one written together: PGPASSWORD, ACCESSTOKEN. */
const CERTAIN =
  /^(?:PASS|PAT|PWD|CREDS?|AUTHORIZATION|BEARER)$|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|JWT)S?$/;
/** A key that opens something, not one that names something (CACHE_KEY, SONAR_PROJECT_KEY). */
const OPENING_KEY =
  /(?:^|_)(?:API|ACCESS|ACCOUNT|AUTH|DEPLOY|ENCRYPTION|LICENSE|MASTER|PRIVATE|SECRET|SERVICE|SESSION|SHARED|SIGNING|SSH|STORAGE)_?KEYS?(?:_|$)/;
/** Such words stand in the names of other things too: the value decides. */
const LIKELY = /^(?:KEYS?|(?:O|HTTP|BASIC)?AUTH2?|AUTHENTICATION)$/;
/** A name that ends so speaks about a secret (TOKEN_ISSUER, SSH_KEY_NAME): what looks like a name is one. */
const ABOUT =
  /^(?:ALG|ALGORITHM|AT|DIR|ENDPOINT|EXPIRES|EXPIRY|FILE|HEADER|HOST|ISSUER|METHOD|NAME|PATH|PREFIX|PROVIDER|REGION|SOCK|TTL|TYPE|URI|URL|USER|USERNAME|VERSION)$/;

const PATH = /^(?:[/~.]|[a-z]:[\\/])/i;
const WORD = new RegExp(`^(?:[A-Z]?[a-z]{0,${LONGEST_WORD}}|[A-Z]{0,${LONGEST_WORD}})$`);
const MAIL = /^[^\s@:/]+@[^\s@:/]+\.[a-z]{2,}$/i;
/** Words as people write them, and numbers as short as those of a year: "Ada McBride", "my-vault-2", "google-oauth2". */
const ONE = String.raw`(?:(?:(?:\p{Lu}\p{Ll}{1,3})?\p{Lu}?\p{Ll}+|\p{Lu}+)\d{0,4}|\d{1,4})`;
const nameLike = () => new RegExp(String.raw`^${ONE}(?:[ ._,/'-]+${ONE})*\.?$`, "u"); // built when asked for: it takes a millisecond
const DATE = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;
const CONNECTION = /^[\w ]+=[^;]*;[\w ]+=/;
const PEM_LINE_MIN = 16;

type Sureness = "certain" | "likely" | "no";

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2") // npm_config__authToken
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== "");
}

function surenessOf(name: string): Sureness {
  const words = wordsOf(name);
  const certain = words.some((word) => CERTAIN.test(word)) || OPENING_KEY.test(words.join("_"));
  if (certain) return ABOUT.test(words.at(-1) ?? "") ? "likely" : "certain";
  return words.some((word) => LIKELY.test(word)) ? "likely" : "no";
}

/** Contract: each secret text of the environment with the name of its variable; none that would hide ordinary text. */
export function secretsIn(env: NodeJS.ProcessEnv): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const [name, value = ""] of Object.entries(env)) {
    for (const secret of secretsOf(name, value.trim())) secrets.set(secret, name);
  }
  return secrets;
}

function secretsOf(name: string, value: string): string[] {
  const sureness = surenessOf(name);
  // Whatever the variable is called, what a URL or a connection string carries as a password is one.
  if (URL_LIKE.test(value)) {
    const whole = sureness === "certain" || wordsOf(name).some((word) => /^WEBHOOKS?$/.test(word));
    return whole ? [value] : credentialsOfUrl(value);
  }
  if (sureness === "no") return CONNECTION.test(value) ? credentialsOfPairs(value) : [];
  if (isPlain(value) || (sureness === "likely" && isNamelike(value))) return [];
  return [value, ...(value.startsWith("-----BEGIN") ? pemLines(value) : [])];
}

const isPlain = (value: string): boolean => value.length < MIN_LENGTH || PATH.test(value) || WORD.test(value);
const isNamelike = (value: string): boolean => MAIL.test(value) || DATE.test(value) || nameLike().test(value);

/** The password of `scheme://user:password@host`, a token that stands there alone, and secret parameters. */
function credentialsOfUrl(text: string): string[] {
  const rest = text.slice(text.indexOf("://") + 3);
  const authority = rest.replace(/[/?#].*/s, "");
  // An unreadable URL may hold a password with a slash that nobody encoded.
  const place = authority.includes("@") || URL.canParse(text) ? authority : rest;
  const userinfo = place.slice(0, Math.max(0, place.lastIndexOf("@")));
  const colon = userinfo.indexOf(":");
  const alone = colon < 0 && userinfo !== "" && !isNamelike(userinfo) ? userinfo : "";
  const password = colon < 0 ? alone : userinfo.slice(colon + 1);
  const query = /\?([^#]*)/.exec(rest)?.[1] ?? "";
  const asked = [...new URLSearchParams(query)].flatMap(([key, value]) => (isSecretParameter(key) ? [value] : []));
  return notPlain([password, decoded(password), ...asked]);
}

/** `Server=db;Uid=app;Pwd=…`, `AccountName=…;AccountKey=…` */
const credentialsOfPairs = (text: string): string[] =>
  notPlain(
    text.split(";").flatMap((pair) => {
      const equals = pair.indexOf("=");
      return equals > 0 && isSecretParameter(pair.slice(0, equals)) ? [pair.slice(equals + 1)] : [];
    }),
  );

const notPlain = (values: string[]): string[] => [...new Set(values.filter((value) => !isPlain(value)))];

const isSecretParameter = (name: string): boolean =>
  surenessOf(name) !== "no" || wordsOf(name).some((word) => word === "SIG" || word === "SIGNATURE");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A private key is shown line by line, numbered, by whatever reads its file. */
const pemLines = (value: string): string[] =>
  value.split(/\r?\n/).filter((line) => line.length >= PEM_LINE_MIN && !line.startsWith("-----"));
