/** The certificates of a local server: what is made, what is kept, and what clients make of them. */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { ownNames } from "../../../scripts/serve/own-names";
import { makeServerCertificate } from "../../../scripts/serve/tls/certificate";
import { keptCertificates } from "../../../scripts/serve/tls/kept-certificates";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const DAY_MS = 86_400_000;
const folders: string[] = [];
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};
afterAll(() => folders.forEach(removeFolder));

type Certificates = ReturnType<typeof keptCertificates>;

/** What a second start makes of the certificates of a first one: "kept", or what is new. */
function change(first: Certificates, second: Certificates): string {
  if (first.ca !== second.ca) return "another CA";
  return first.certificates === second.certificates && first.key === second.key ? "kept" : "another certificate";
}

/** What a client that trusts the CA says of a server with the certificate, asked by its name; "" = nothing. */
async function verdict(ca: string, pair: { cert: string; key: string }, servername: string): Promise<string> {
  const server = createServer(pair).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, ca, servername, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { authorized, authorizationError } = socket;
  socket.destroy();
  server.close();
  return authorized ? "" : String(authorizationError);
}

describe("certificates of a local server", () => {
  it.each<[string, { days?: number; names?: string[]; before?: string[]; damage?: (folder: string) => void }, string]>([
    ["at once", {}, "kept"],
    ["after eleven months less a few days", { days: 330 }, "kept"],
    ["with less than thirty days left", { days: 336 }, "another certificate"],
    ["with less than thirty days left of the CA", { days: 3_621 }, "another CA"],
    ["before they are valid", { days: -1 }, "another CA"],
    ["with another address of loopback", { names: ["127.0.0.2"] }, "another certificate"],
    ["without a name of before", { before: ["127.0.0.2"] }, "kept"],
    ["with an address beyond loopback", { names: ["192.0.2.1"] }, "another CA"],
    ["with another one beyond loopback", { before: ["192.0.2.1"], names: ["2001:db8::1", "my.name"] }, "another certificate"],
    ["without its own key", { damage: (folder) => rmSync(join(folder, "server.key")) }, "another certificate"],
    ["with a certificate that is cut short", { damage: (folder) => truncateSync(join(folder, "server.crt"), 100) }, "another certificate"],
    ["without the key of the CA", { damage: (folder) => rmSync(join(folder, "ca.key")) }, "another CA"],
    [
      "with the key of another CA",
      { damage: (folder) => writeFileSync(join(folder, "ca.key"), readFileSync(join(folder, "server.key"))) },
      "another CA",
    ],
  ])("start %s: keeps what will do", (_, { days = 0, names = [], before = [], damage }, outcome) => {
    const folder = newFolder();
    const nowMs = Date.now();
    const first = keptCertificates(folder, before, nowMs);
    damage?.(folder);
    const second = keptCertificates(folder, names, nowMs + days * DAY_MS);
    expect(change(first, second)).toBe(outcome);
    expect(keptCertificates(folder, names, nowMs + days * DAY_MS)).toEqual(second);
    for (const name of ["ca.crt", "ca.key", "server.crt", "server.key"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("certificates: have their times, and what is asked of a CA and of a server", () => {
    const nowMs = Date.parse("2045-06-01T00:00:00Z");
    const { ca, certificates, key } = keptCertificates(newFolder(), [], nowMs);
    const [root, leaf] = [new X509Certificate(ca), new X509Certificate(certificates)];
    expect([root.ca, root.verify(root.publicKey), root.checkIssued(root)]).toEqual([true, true, true]);
    expect([leaf.ca, leaf.verify(root.publicKey), leaf.checkIssued(root)]).toEqual([false, true, true]);
    // Beyond 2049 a time has another form.
    expect(Date.parse(root.validTo)).toBe(Date.parse("2055-05-30T00:00:00Z"));
    expect(Date.parse(leaf.validTo) - nowMs).toBe(365 * DAY_MS);
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
  });

  it.each([
    ["localhost", ""],
    ["other.example", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("client that trusts the CA and asks for %s: %j", async (name, error) => {
    const { ca, certificates, key } = keptCertificates(newFolder(), []);
    expect(await verdict(ca, { cert: certificates, key }, name)).toBe(error);
  });

  // Node has no word for a name that the CA may not vouch for.
  it.each([
    ["localhost: taken", ["localhost", "127.3.2.1"], "localhost", ""],
    ["a name beyond loopback: refused by clients", ["bank.example"], "bank.example", "UNSPECIFIED"],
    ["an address beyond loopback: refused by clients", ["localhost", "192.0.2.1"], "localhost", "UNSPECIFIED"],
  ])("key of a loopback CA, certificate for %s", async (_, names, asked, error) => {
    const folder = newFolder();
    const { ca } = keptCertificates(folder, []);
    const key = createPrivateKey(readFileSync(join(folder, "ca.key")));
    const name = new X509Certificate(ca).subject.replace("CN=", "");
    const validity = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS };
    const forged = makeServerCertificate(names, validity, { name, key }, createPublicKey(ca));
    expect(await verdict(ca, { cert: forged.certificate, key: forged.key }, asked)).toBe(error);
  });
});

describe("names of a server", () => {
  it.each([
    ["one address", "127.0.0.1", ["my.name"], ["127.0.0.1", "my.name"]],
    ["a name", "localhost", [], ["localhost"]],
  ])("that listens on %s: that and the allowed ones", (_, host, allowed, names) => {
    expect(ownNames(host, allowed)).toEqual(names);
  });

  it("that listens on every address: all of the machine's", () => {
    expect(ownNames("0.0.0.0", ["my.name"])).toEqual(expect.arrayContaining(["127.0.0.1", "my.name"]));
  });
});
