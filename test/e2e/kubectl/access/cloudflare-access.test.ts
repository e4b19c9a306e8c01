/** kubectl with the JWT of Cloudflare Access, by the configurations of docs/access.md. A server of keys and a script stand for Cloudflare and cloudflared. */
import { execFile } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { keptCertificates } from "../../../../scripts/serve/tls/kept-certificates";
import { kubectlCommand } from "../../../support/clients/kubectl-command";
import { recipe } from "../../../support/examples/access-page";
import { configWith } from "../../../support/server/own-config";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";

const SECTION = "JWTs of an issuer";
const AUDIENCE = "AUD-TAG-OF-THE-APPLICATION";
const folder = temporaryFolder();
/** A CA of loopback names alone is limited to addresses, and the runtime trusts no such CA. */
const certificates = keptCertificates(folder, ["team.example.com"]);
const keys = await generateKeyPair("RS256", { extractable: true });
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k", alg: "RS256", use: "sig" }] });
const team = createServer({ key: certificates.key, cert: certificates.certificates }, (asked, answer) => {
  if (asked.url === "/cdn-cgi/access/certs") answer.setHeader("Content-Type", "application/json").end(jwks);
  else answer.writeHead(404).end();
});
team.listen(0, "localhost");
await once(team, "listening");
const issuer = `https://localhost:${String((team.address() as AddressInfo).port)}`;
const issuers = recipe(SECTION, "json", "", "cloudflareaccess.com").replaceAll("https://TEAM.cloudflareaccess.com", issuer);
const configPath = configWith({ AUTHENTICATION_CONFIG: issuers });
const trustedBefore = process.env["NODE_EXTRA_CA_CERTS"];
let server: Server;

beforeAll(async () => {
  // The runtime trusts what Node is told to trust.
  process.env["NODE_EXTRA_CA_CERTS"] = join(folder, "ca.crt");
  server = await startServer(join(folder, "data"), ["--config", configPath], { secure: true });
});
afterAll(async () => {
  if (trustedBefore === undefined) delete process.env["NODE_EXTRA_CA_CERTS"];
  else process.env["NODE_EXTRA_CA_CERTS"] = trustedBefore;
  await server.kill();
  team.close();
  removeFolder(folder);
});

/** Of Jane, as Access signs it. */
function jwt(key: typeof keys.privateKey): Promise<string> {
  const claims = new SignJWT({ email: "jane@example.com" }).setProtectedHeader({ alg: "RS256", kid: "k" }).setIssuer(issuer);
  return claims.setAudience(AUDIENCE).setIssuedAt().setExpirationTime("1h").sign(key);
}

/** The outcome of a kubectl command of the user of the page's kubeconfig, for whom cloudflared has this JWT. */
async function kubectl(token: string, line: string): Promise<{ code: number | null; out: string; err: string }> {
  const cloudflared = join(folder, "cloudflared");
  writeFileSync(cloudflared, `#!/bin/sh\n[ "$*" = "access token -app=https://login.example.com" ] && echo '${token}'\n`);
  chmodSync(cloudflared, 0o755);
  const { users } = parse(recipe(SECTION, "yaml", server.url, "cloudflared")) as { users: object[] };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority": join(folder, "data", "ca.crt") } }],
    users,
    contexts: [{ name: "c", context: { cluster: "c", user: "me" } }],
    "current-context": "c",
  };
  writeFileSync(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, HOME: folder, KUBECONFIG: join(folder, "kubeconfig") };
  return new Promise((resolve) => {
    const child = execFile(kubectlCommand(), line.split(" "), { env, timeout: 30_000 }, (_, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
  });
}

it("kubectl with the JWT that cloudflared keeps: is its user, with the rights of its user", async () => {
  const token = await jwt(keys.privateKey);
  const who = await kubectl(token, "auth whoami -o jsonpath={.status.userInfo.username}");
  expect(who).toEqual({ code: 0, out: "jane@example.com", err: "" });
  expect((await kubectl(token, "get services")).err).toContain('User "jane@example.com" cannot list resource "services"');
  expect(readFileSync(join(folder, "kubeconfig"), "utf8")).not.toContain(token);
});

it("a JWT of somebody else's key: is refused", async () => {
  const foreign = await generateKeyPair("RS256");
  const token = await jwt(foreign.privateKey);
  expect((await kubectl(token, "auth whoami")).err).toContain("must be logged in");
});
