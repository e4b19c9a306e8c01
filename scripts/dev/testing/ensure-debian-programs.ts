/** Programs for the tests on a machine that has none: those of Debian's packages. */
import { execFileSync, spawnSync } from "node:child_process";
import { findChromium } from "./chromium";
import { findDnsmasq } from "./dnsmasq";
import { findHaproxy, findJq } from "./haproxy";
import { findIp, findNft } from "./network-programs";
import { type Counts, oneFailed, onePassed } from "./counts";

interface Found {
  command: string | undefined;
  counts: Counts;
}

export function ensureChromium(): Found {
  return ensure({ name: "Chromium", variable: "CHROMIUM", debianPackage: "chromium", find: findChromium });
}

export function ensureDnsmasq(): Found {
  return ensure({ name: "dnsmasq", variable: "DNSMASQ", debianPackage: "dnsmasq-base", find: findDnsmasq });
}

export function ensureHaproxy(): Found {
  return ensure({ name: "HAProxy", variable: "HAPROXY", debianPackage: "haproxy", find: findHaproxy });
}

/** For the script that makes HAProxy's file. */
export function ensureJq(): Found {
  return ensure({ name: "jq", variable: "JQ", debianPackage: "jq", find: findJq });
}

/** For machines that are network namespaces. */
export function ensureIp(): Found {
  return ensure({ name: "ip", debianPackage: "iproute2", find: findIp });
}

/** For kube-proxy. */
export function ensureNft(): Found {
  return ensure({ name: "nft", debianPackage: "nftables", find: findNft });
}

/** For completion. */
export function ensureZsh(): Found {
  return ensure({ name: "zsh", debianPackage: "zsh", find: () => onPath("zsh") });
}

export function ensureFish(): Found {
  return ensure({ name: "fish", debianPackage: "fish", find: () => onPath("fish") });
}

function onPath(name: string): string | undefined {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0 ? name : undefined;
}

interface Wanted {
  name: string;
  /** of the environment: a command that runs it; undefined = the PATH alone counts */
  variable?: string;
  debianPackage: string;
  find: () => string | undefined;
}

/** Finds or installs a program; a machine that cannot have it fails this step loudly. */
function ensure({ name, variable, debianPackage, find }: Wanted): Found {
  let command = find();
  if (!command) {
    console.log(`No ${name} on the PATH: installing Debian's package ...`);
    try {
      install(debianPackage);
    } catch (error) {
      console.error(`FAILED ${debianPackage} could not be installed: ${error instanceof Error ? error.message : String(error)}`);
    }
    command = find();
  }
  const where = variable === undefined ? "put one on the PATH" : `put one on the PATH or name it in $${variable}`;
  if (!command) console.error(`FAILED there is no ${name}: ${where}`);
  return { command, counts: command ? onePassed : oneFailed(debianPackage) };
}

function install(debianPackage: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (args: string[]) => execFileSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env });
  apt(["update", "-qq"]);
  apt(["install", "-y", "-qq", "--no-install-recommends", debianPackage]);
}
