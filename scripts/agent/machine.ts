/** What this machine is, as its Node tells. */
import { readFileSync } from "node:fs";
import { arch, availableParallelism, platform, release, totalmem } from "node:os";
import type { Machine } from "../../src/clients/agent/index";
import { GIT_VERSION } from "../../src/core/config/version";
import type { AgentOptions } from "./options";

const HOSTNAME = "kubernetes.io/hostname";
const OS = "kubernetes.io/os";
const ARCH = "kubernetes.io/arch";
/** Names of Go, where Node's differ. */
const GO_NAMES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", win32: "windows" };

export function machineOf({ node, hostname, addresses, labels }: AgentOptions): Machine {
  const [operatingSystem, architecture] = [goName(platform()), goName(arch())];
  return {
    name: node,
    hostname,
    addresses,
    labels: { [HOSTNAME]: node, [OS]: operatingSystem, [ARCH]: architecture, ...labels },
    nodeInfo: {
      operatingSystem,
      architecture,
      kernelVersion: release(),
      osImage: osImage(),
      machineID: lineOf("/etc/machine-id"),
      systemUUID: lineOf("/etc/machine-id"),
      bootID: lineOf("/proc/sys/kernel/random/boot_id"),
      // Where clients show the version of the kubelet.
      kubeletVersion: GIT_VERSION,
      kubeProxyVersion: "",
      containerRuntimeVersion: "",
    },
    // The agent starts no Pods: a scheduler finds no room for any.
    capacity: { cpu: String(availableParallelism()), memory: `${String(Math.floor(totalmem() / 1_024))}Ki`, pods: "0" },
  };
}

function goName(name: string): string {
  return GO_NAMES[name] ?? name;
}

function osImage(): string {
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(textOf("/etc/os-release"))?.[1] ?? platform();
}

function lineOf(file: string): string {
  return textOf(file).trim();
}

/** "" where the system has no such file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
