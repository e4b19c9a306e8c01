/** The file of hosts: follows the cluster and replaces the file at each change. It stays as it is while the API server cannot be reached. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { familyOfText } from "../../src/core/net/family";
import { followHosts, HOSTS_MARK } from "../../src/clients/dns/index";
import { addressWithin } from "../../src/clients/proxy/index";
import { shownPath } from "../folders/user-path";
import { targetFetch } from "../cluster/target-fetch";
import { readIfThere } from "../serve/private-file";
import { callOf } from "../terminal/call";
import { UserError } from "../terminal/user-error";
import type { DnsOptions } from "./options";

export interface HostsFileEvents {
  /** The file has the names of all Services for the first time. */
  onFirst(): void;
  /** The API server refuses or cannot be reached. The same trouble is told once, until it is over or there is another one. */
  onTrouble(line: string): void;
  /** The file cannot be written. Nothing follows. */
  onFailure(error: Error): void;
}

const clock = {
  now: () => Date.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Begins to keep the file. The returned function ends it; the file stays. */
export function keepHostsFile(options: DnsOptions, { onFirst, onTrouble, onFailure }: HostsFileEvents): () => void {
  const { target, file, domain } = options;
  let isFirst = true;
  let trouble: string | undefined;
  const stop = followHosts({
    fetch: targetFetch(target),
    clock,
    random: { next: () => Math.random() },
    hosts: { domain, placeOf: (address, of) => placeOf(address, of, options) },
    onText: (text) => {
      try {
        replaceFile(file, text);
      } catch (error) {
        stop();
        onFailure(error as Error);
        return;
      }
      if (isFirst) onFirst();
      isFirst = false;
    },
    onAnswer: () => (trouble = undefined),
    onError: ({ message }) => {
      if (message !== trouble) onTrouble(`${target.url}: ${message}; ${shownPath(file)} stays as it is`);
      trouble = message;
    },
  });
  return stop;
}

function placeOf(address: string, of: "clusterIP" | "endpoint", { listenPrefix, listenPrefixIPv6, dialPrefix }: DnsOptions): string {
  const ofClusterIPs = familyOfText(address) === "IPv4" ? listenPrefix : listenPrefixIPv6;
  const prefix = of === "endpoint" ? dialPrefix : ofClusterIPs;
  return prefix ? addressWithin(prefix, address) : address;
}

/** Throws UserError for a file with names of somebody else, such as /etc/hosts. */
export function assertReplaceable(file: string): void {
  const text = readIfThere(file);
  if (text && !text.startsWith(`${HOSTS_MARK}\n`))
    throw new UserError(`--file ${shownPath(file)} was not made by ${callOf("dns")}; choose another file, in a folder of its own`);
}

/** A reader sees the old text or the new one. Name servers leave files alone whose name begins with a dot. */
function replaceFile(file: string, text: string): void {
  const folder = dirname(file);
  const next = join(folder, `.${basename(file)}.next`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(next, text);
  renameSync(next, file);
}
