/**
 * What a scalar of YAML is to Go. The rules are neither those of YAML 1.1 (`e0` and `1:30` are text) nor those of YAML 1.2 (`yes` is true, `010` is
 * 8). Source: go.yaml.in/yaml/v2 resolve.go; keys: sigs.k8s.io/yaml yaml.go, convertToJSONableObject.
 */

import { decodeBase64 } from "../../../core/encoding/base64";

/** A float may be infinite or NaN, which JSON cannot say. */
export type YamlScalar =
  | { readonly kind: "null"; readonly value: null }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "str"; readonly value: string };

/** A scalar as it stands in a text. */
export interface ScalarText {
  /** without quotes, folded and unescaped */
  readonly text: string;
  /** neither in quotes nor a block */
  readonly isPlain: boolean;
  /** undefined = none */
  readonly tag: string | undefined;
}

const TAGS = "tag:yaml.org,2002:";
const NO_TYPE = "!";
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

const NULL: YamlScalar = { kind: "null", value: null };

const WORDS = new Map<string, YamlScalar>([
  ...words(NULL, ["", "~", "null", "Null", "NULL"]),
  ...words({ kind: "bool", value: true }, ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]),
  ...words({ kind: "bool", value: false }, ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]),
  ...words({ kind: "float", value: NaN }, [".nan", ".NaN", ".NAN"]),
  ...words({ kind: "float", value: Infinity }, [".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"]),
  ...words({ kind: "float", value: -Infinity }, ["-.inf", "-.Inf", "-.INF"]),
]);

function words(scalar: YamlScalar, texts: readonly string[]): [string, YamlScalar][] {
  return texts.map((text) => [text, scalar]);
}

/** The value of a scalar. Throws where its tag says another type than its text, with Go's text. */
export function scalarOf({ text, isPlain, tag }: ScalarText): YamlScalar {
  if (tag === undefined) return isPlain ? plain(text) : { kind: "str", value: text };
  const type = tag.startsWith(TAGS) ? tag.slice(TAGS.length) : "";
  if (type === "binary") return { kind: "str", value: decodedBase64(text) };
  if (type === "timestamp") {
    if (!TIMESTAMP.test(text)) throw new Error(`cannot decode !!${plain(text).kind} \`${text}\` as a !!timestamp`);
    return { kind: "str", value: text };
  }
  if (type !== "int" && type !== "float" && type !== "bool" && type !== "null") return { kind: "str", value: text };
  const scalar = plain(text);
  if (scalar.kind === type) return scalar;
  if (type === "float" && scalar.kind === "int" && scalar.value <= INT64_MAX) return { kind: "float", value: Number(scalar.value) };
  throw new Error(`cannot decode !!${scalar.kind} \`${text}\` as a !!${type}`);
}

/** Whether a key of a map takes over the members of its value. */
export function isMergeKey({ text, isPlain, tag }: ScalarText): boolean {
  return text === "<<" && (tag === undefined ? isPlain : tag === NO_TYPE || tag === `${TAGS}merge`);
}

/** The name of the member that a key stands for. Throws where Go has none, with its text as far as it names the key. */
export function keyOf({ kind, value }: YamlScalar): string {
  if (kind === "null") throw new NotAKeyError("%!s(<nil>), key: <nil>");
  if (kind === "int" && value > INT64_MAX) throw new NotAKeyError(`uint64, key: 0x${value.toString(16)}`);
  return kind === "float" ? floatKey(value) : String(value);
}

/** A key that no member of JSON can have. */
export class NotAKeyError extends Error {
  constructor(key: string) {
    super(`unsupported map key of type: ${key}`);
  }
}

/** The error of a key that is no scalar, which has no name in JSON. Source: go.yaml.in/yaml/v2 decode.go, which prints the key's value, too. */
export function invalidMapKey(isMap: boolean): Error {
  return new Error(`invalid map key: ${isMap ? "map[interface {}]interface {}" : "[]interface {}"}`);
}

/** Without quotes and tag. */
function plain(text: string): YamlScalar {
  const str: YamlScalar = { kind: "str", value: text };
  const word = WORDS.get(text);
  if (word) return word;
  if (text.startsWith(".")) return (POINT_FLOAT.test(text) && float(text.replaceAll("_", ""))) || str;
  if (!NUMBER_START.test(text)) return str;
  const number = text.replaceAll("_", "");
  return integer(number) ?? (FLOAT.test(number) ? float(number) : undefined) ?? binary(number) ?? str;
}

const NUMBER_START = /^[-+0-9]/;
/** strconv.ParseFloat of what begins with a point. */
const POINT_FLOAT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Beyond the largest float it is text. */
function float(text: string): YamlScalar | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? { kind: "float", value } : undefined;
}

/** strconv.ParseInt and ParseUint of base 0, which know the base by a prefix. Only ParseInt takes a sign. */
function integer(text: string): YamlScalar | undefined {
  const sign = signOf(text);
  for (const { form, base, lengthMax } of BASES) {
    const [, digits] = form.exec(text.slice(sign.length)) ?? [];
    if (digits !== undefined) return int(sign, digits, base, lengthMax);
  }
  return undefined;
}

/** The first that fits counts. What has more digits, without zeros before them, is larger than any integer of 64 bits. */
const BASES = [
  { form: /^0[bB]([01]+)$/, base: "0b", lengthMax: 64 },
  { form: /^0[oO]([0-7]+)$/, base: "0o", lengthMax: 22 },
  { form: /^0[xX]([0-9a-fA-F]+)$/, base: "0x", lengthMax: 16 },
  { form: /^(0[0-7]*)$/, base: "0o", lengthMax: 22 },
  { form: /^([1-9][0-9]*)$/, base: "", lengthMax: 20 },
] as const;

/** Go's own reading of `0b`, which differs from that of strconv by a sign after the prefix. */
function binary(text: string): YamlScalar | undefined {
  const [, sign = "", digits] = /^0b([-+])([01]+)$/.exec(text) ?? [];
  return digits === undefined ? undefined : int(sign, digits, "0b", 64);
}

function signOf(text: string): string {
  return text.startsWith("-") || text.startsWith("+") ? text.charAt(0) : "";
}

function int(sign: string, digits: string, base: string, lengthMax: number): YamlScalar | undefined {
  const shown = digits.replace(/^0+/, "") || "0";
  if (shown.length > lengthMax) return undefined;
  const magnitude = BigInt(base + shown);
  const value = sign === "-" ? -magnitude : magnitude;
  return value < INT64_MIN || value > (sign ? INT64_MAX : UINT64_MAX) ? undefined : { kind: "int", value };
}

/** time.Parse of the formats in resolve.go. */
const DATE = "[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])";
const CLOCK = "(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:\\.[0-9]+)?";
const TIMESTAMP = new RegExp(`^${DATE}(?:[Tt]${CLOCK}(?:Z|[-+][0-9]{2}:[0-9]{2})| ${CLOCK})?$`);

/** Bytes that are no UTF-8 become U+FFFD, in Go each of them, here each broken character. */
function decodedBase64(text: string): string {
  const bytes = decodeBase64(text.replace(/[\r\n]/g, ""));
  if (!bytes) throw new Error("!!binary value contains invalid base64 data");
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

/** strconv.FormatFloat(value, 'g', -1, 32): the shortest digits that are the same float of 32 bits, with an exponent below 1e-4 and from 1e6 on. */
function floatKey(value: number): string {
  const rounded = Math.fround(value);
  if (Number.isNaN(rounded)) return ".nan";
  if (!Number.isFinite(rounded)) return rounded > 0 ? ".inf" : "-.inf";
  if (rounded === 0) return Object.is(rounded, -0) ? "-0" : "0";
  let digits = 0;
  while (digits < FLOAT32_DIGITS_MAX && Math.fround(Number(rounded.toExponential(digits))) !== rounded) digits++;
  const [mantissa = "", exponent = "0"] = rounded.toExponential(digits).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < GO_EXPONENT_FROM) return String(Number(`${mantissa}e${exponent}`));
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** After the first digit. */
const FLOAT32_DIGITS_MAX = 8;
const GO_EXPONENT_FROM = 6;
