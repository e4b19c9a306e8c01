/**
 * X.509 certificates of a local server (RFC 5280): those of its CA, and those that the CA issues. ECDSA with P-256 and SHA-256, which every client
 * knows. They have what strict clients ask for (the Python of OpenSSL 3 with VERIFY_X509_STRICT): key usages, and identifiers of the keys.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { parseAddress } from "../../../src/core/net/address";
import { bits, explicit, integer, isTrue, octets, oid, sequence, setOf, tagged, time, utf8 } from "./der";

export interface Issued {
  /** PEM */
  certificate: string;
  /** PEM, PKCS #8 */
  key: string;
}

/** Who signs: the name and the key of a CA. */
export interface Issuer {
  name: string;
  key: KeyObject;
}

interface Validity {
  fromMs: number;
  toMs: number;
}

/** names of hosts and addresses */
export type HostNames = readonly string[];

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const COMMON_NAME = "2.5.4.3";
const SUBJECT_KEY_IDENTIFIER = "2.5.29.14";
const KEY_USAGE = "2.5.29.15";
const SUBJECT_ALT_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const NAME_CONSTRAINTS = "2.5.29.30";
const AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
/** bits of KeyUsage, the first one at the left */
const DIGITAL_SIGNATURE = bits(Buffer.from([0b1000_0000]), 7);
const CERT_SIGN_CRL_SIGN = bits(Buffer.from([0b0000_0110]), 1);
const V3 = explicit(0, integer(Buffer.from([2])));
/** GeneralName */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const SERIAL_BYTES = 16;

/** What a CA with limits may issue: the names and addresses of loopback. */
const LOOPBACK_SUBTREES = [
  tagged(DNS_NAME, Buffer.from("localhost")),
  tagged(IP_ADDRESS, Buffer.from([127, 0, 0, 0, 255, 0, 0, 0])),
  tagged(IP_ADDRESS, Buffer.concat([Buffer.alloc(15), Buffer.from([1]), Buffer.alloc(16, 255)])),
];

/** A new CA. With `isLimited` clients accept no certificate of it but for loopback, whoever gets hold of its key. */
export function makeCA(name: string, validity: Validity, isLimited: boolean): Issued {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const limits = explicit(0, ...LOOPBACK_SUBTREES.map((subtree) => sequence(subtree)));
  return issued(name, publicKey, privateKey, { name, key: privateKey }, validity, [
    // A CA that issues no other CA.
    extension(BASIC_CONSTRAINTS, sequence(isTrue(), integer(Buffer.from([0]))), true),
    extension(KEY_USAGE, CERT_SIGN_CRL_SIGN, true),
    extension(SUBJECT_KEY_IDENTIFIER, octets(keyIdentifier(publicKey))),
    ...(isLimited ? [extension(NAME_CONSTRAINTS, sequence(limits), true)] : []),
  ]);
}

/** A certificate of a server for these names. `issuerKey`: the public key of the issuer. */
export function makeServerCertificate(names: HostNames, validity: Validity, issuer: Issuer, issuerKey: KeyObject): Issued {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return issued("servicenet", publicKey, privateKey, issuer, validity, [
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(KEY_USAGE, DIGITAL_SIGNATURE, true),
    extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTH))),
    extension(SUBJECT_ALT_NAME, sequence(...names.map(generalName))),
    extension(SUBJECT_KEY_IDENTIFIER, octets(keyIdentifier(publicKey))),
    extension(AUTHORITY_KEY_IDENTIFIER, sequence(tagged(0, keyIdentifier(issuerKey)))),
  ]);
}

function issued(
  subject: string,
  publicKey: KeyObject,
  privateKey: KeyObject,
  issuer: Issuer,
  { fromMs, toMs }: Validity,
  extensions: readonly Buffer[],
): Issued {
  // A serial number is positive: its first bit is none.
  const serial = randomBytes(SERIAL_BYTES).map((byte, index) => (index === 0 ? (byte & 0x7f) | 0x40 : byte));
  const content = sequence(
    V3,
    integer(serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(fromMs), time(toMs)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions)),
  );
  const certificate = sequence(content, ECDSA_WITH_SHA256, bits(sign("sha256", content, issuer.key)));
  return { certificate: pem("CERTIFICATE", certificate), key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

function nameOf(commonName: string): Buffer {
  return sequence(setOf(sequence(oid(COMMON_NAME), utf8(commonName))));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [isTrue()] : []), octets(value));
}

function generalName(name: string): Buffer {
  const parsed = parseAddress(name);
  if (!parsed.ok) return tagged(DNS_NAME, Buffer.from(name));
  const { family, value } = parsed.value;
  return tagged(IP_ADDRESS, Buffer.from(value.toString(16).padStart(family === "IPv4" ? 8 : 32, "0"), "hex"));
}

/** RFC 7093, method 1, of a P-256 key: its point has 65 bytes and ends the encoding. */
function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: "spki", format: "der" }).subarray(-65);
  return createHash("sha256").update(point).digest().subarray(0, 20);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
