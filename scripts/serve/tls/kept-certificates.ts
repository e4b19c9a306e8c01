/**
 * The certificates of a local server, in its data folder: a CA that clients trust (`ca.crt`, `ca.key`), and what the server shows (`server.crt`,
 * `server.key`). They are made by the first start and kept: a client that trusts the CA trusts each later start. What is about to expire, or lacks a name,
 * or cannot be read, is made anew; a new CA only where the old one will not do.
 */
import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { join } from "node:path";
import { isLoopback } from "../loopback";
import { readIfThere, writePrivate } from "../private-file";
import { type HostNames, type Issued, makeCA, makeServerCertificate } from "./certificate";

/** as PEM, and the files with the server's */
export interface KeptCertificates {
  ca: string;
  key: string;
  /** the server's own first */
  certificates: string;
  keyPath: string;
  chainPath: string;
}

const DAY_MS = 86_400_000;
const CA_DAYS = 3_650;
const SERVER_DAYS = 365;
const RENEW_DAYS = 30;
/** The clock of a client may be late. */
const EARLIER_MS = 3_600_000;
/** Names of CAs begin so. They say what the CA may issue, because `node:crypto` tells nothing of name constraints. */
const LIMITED = "Servicenet loopback CA";
const UNLIMITED = "Servicenet local CA";
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "::1"];

interface Kept extends Issued {
  parsed: X509Certificate;
}

/** `names`: those of the server besides the names of loopback. */
export function keptCertificates(folder: string, names: HostNames, nowMs = Date.now()): KeptCertificates {
  const all = [...new Set([...LOOPBACK_NAMES, ...names])];
  const isLimited = all.every(isOfLoopback);
  const ca = kept(
    folder,
    "ca",
    (old) => isFresh(old, nowMs) && (isLimited || !isLimitedCA(old)),
    () => makeCA(`${isLimited ? LIMITED : UNLIMITED} ${randomBytes(4).toString("hex")}`, validity(nowMs, CA_DAYS), isLimited),
  );
  const server = kept(
    folder,
    "server",
    (old) => isFresh(old, nowMs) && isOf(old, ca) && all.every((name) => isFor(old, name)),
    () =>
      makeServerCertificate(
        all,
        validity(nowMs, SERVER_DAYS),
        { name: commonName(ca), key: createPrivateKey(ca.key) },
        ca.parsed.publicKey,
      ),
  );
  const [chainPath, keyPath] = filesOf(folder, "server");
  return { ca: ca.certificate, certificates: server.certificate, key: server.key, keyPath, chainPath };
}

/** The pair of files, where `isGood` says that it will do; else a new one. */
function kept(folder: string, name: string, isGood: (old: Kept) => boolean, make: () => Issued): Kept {
  const [certificatePath, keyPath] = filesOf(folder, name);
  const old = readPair(readIfThere(certificatePath), readIfThere(keyPath));
  if (old && isGood(old)) return old;
  const made = make();
  // A crash between the two leaves a pair that does not match, which is none.
  writePrivate(keyPath, made.key);
  writePrivate(certificatePath, made.certificate);
  return { ...made, parsed: new X509Certificate(made.certificate) };
}

/** of the certificate, and of its key */
function filesOf(folder: string, name: string): [string, string] {
  return [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
}

/** undefined: one is missing, or damaged, or they do not match. */
function readPair(certificate: string | undefined, key: string | undefined): Kept | undefined {
  if (certificate === undefined || key === undefined) return undefined;
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? { certificate, key, parsed } : undefined;
  } catch {
    return undefined;
  }
}

function validity(nowMs: number, days: number): { fromMs: number; toMs: number } {
  return { fromMs: nowMs - EARLIER_MS, toMs: nowMs + days * DAY_MS };
}

/** The clock of this machine may have been set back. */
function isFresh({ parsed }: Kept, nowMs: number): boolean {
  return Date.parse(parsed.validFrom) <= nowMs && Date.parse(parsed.validTo) - nowMs > RENEW_DAYS * DAY_MS;
}

function isOf({ parsed }: Kept, ca: Kept): boolean {
  return parsed.checkIssued(ca.parsed) && parsed.verify(ca.parsed.publicKey);
}

function isFor({ parsed }: Kept, name: string): boolean {
  return (isIP(name) > 0 ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined;
}

function isOfLoopback(name: string): boolean {
  return isLoopback(name) || name.endsWith(".localhost");
}

function commonName({ parsed }: Kept): string {
  return parsed.subject.replace(/^CN=/, "");
}

function isLimitedCA(ca: Kept): boolean {
  return commonName(ca).startsWith(LIMITED);
}
