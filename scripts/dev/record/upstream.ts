/** kube-apiserver and etcd on loopback, as a test begins with them: no controllers, one administrator. */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReplayTarget } from "../../../test/support/replay/play";
import { freePort } from "../../../test/support/server/free-port";
import { root } from "../../running/root.mjs";
import { send } from "../../cluster/send";
import { goProgram } from "../testing/go-program";

const TOKEN = "replay";
const READY_MS_MAX = 120_000;
const KEY_BITS = 2_048;
/** Its answers name the version that they are of, which go.mod alone does not tell a program. */
const VERSION = { gitVersion: "v1.36.2", gitMajor: "1", gitMinor: "36" };

export interface Upstream {
  target: ReplayTarget;
  stop(): Promise<void>;
}

/** @throws Error where one of them cannot be built, ends, or is not ready in time */
export async function startUpstream(folder: string): Promise<Upstream> {
  const sources = join(root, "test", "clients", "kube-apiserver");
  const symbols = Object.entries(VERSION).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const apiserver = goProgram({ folder: sources, name: "kube-apiserver", args: ["-ldflags", `-s -w ${symbols.join(" ")}`] });
  const etcd = goProgram({ folder: join(sources, "etcd"), name: "etcd", args: ["-ldflags", "-s -w"] });
  const store = `http://127.0.0.1:${String(await freePort())}`;
  const port = await freePort();
  writeFileSync(join(folder, "tokens"), `${TOKEN},admin,1,"system:masters"\n`);
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: KEY_BITS,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  writeFileSync(join(folder, "accounts.key"), privateKey);
  const children = [start(etcd, etcdArguments(folder, store, await freePort())), start(apiserver, apiserverArguments(folder, store, port))];
  const stop = async (): Promise<void> => {
    for (const child of [...children].reverse()) {
      if (child.exitCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
  };
  try {
    const target = await ready(children, folder, `https://127.0.0.1:${String(port)}`);
    return { target, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start(path: string, args: readonly string[]): ChildProcess {
  return spawn(path, args, { stdio: "ignore" });
}

function etcdArguments(folder: string, url: string, peerPort: number): string[] {
  const peer = `http://127.0.0.1:${String(peerPort)}`;
  return [
    ...["--data-dir", join(folder, "etcd"), "--unsafe-no-fsync"],
    ...["--listen-client-urls", url, "--advertise-client-urls", url],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`],
  ];
}

function apiserverArguments(folder: string, store: string, port: number): string[] {
  const key = join(folder, "accounts.key");
  return [
    ...["--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", String(port), "--cert-dir", join(folder, "certificates")],
    ...["--token-auth-file", join(folder, "tokens"), "--authorization-mode", "RBAC"],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--service-account-key-file", key, "--service-account-signing-key-file", key],
    ...["--service-cluster-ip-range", "10.96.0.0/16", "--runtime-config", "networking.k8s.io/v1beta1=true"],
    // No controller makes ServiceAccounts, and nobody is told where this server is.
    ...["--disable-admission-plugins", "ServiceAccount", "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none"],
  ];
}

async function ready(children: readonly ChildProcess[], folder: string, url: string): Promise<ReplayTarget> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  for (const deadline = Date.now() + READY_MS_MAX; Date.now() < deadline; await sleep(200)) {
    const ended = children.find(({ exitCode }) => exitCode !== null);
    if (ended) throw new Error(`${ended.spawnfile} ended with ${String(ended.exitCode)}`);
    try {
      const ca = readFileSync(join(folder, "certificates", "apiserver.crt"), "utf8");
      const { status } = await send({ url, options: { headers, ca } }, "GET", "/readyz");
      if (status === 200) return { url, headers, ca };
    } catch {
      // Not yet.
    }
  }
  throw new Error(`no answer of kube-apiserver within ${String(READY_MS_MAX / 1_000)} s`);
}
