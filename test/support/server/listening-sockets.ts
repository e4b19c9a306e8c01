/** The sockets on which processes listen, as the system itself tells. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ListeningSocket {
  kind: "tcp" | "udp" | "unix";
  /** address:port, with brackets for IPv6; or the path, "" for a socket without one */
  address: string;
}

const TCP_LISTEN = "0A";
/** SO_ACCEPTCON of <linux/net.h> */
const UNIX_ACCEPTS = 0x10000;

export function listeningSockets(pids: readonly number[]): ListeningSocket[] {
  const found = existsSync("/proc/net/tcp") ? pids.flatMap(ofLinux) : ofLsof(pids);
  const texts = new Set(found.map((socket) => JSON.stringify(socket)));
  return [...texts].sort().map((text) => JSON.parse(text) as ListeningSocket);
}

/** By the network of that process: it may have one of its own. */
function ofLinux(pid: number): ListeningSocket[] {
  const inodes = inodesOf(pid);
  const table = (name: string) => tableOf(pid, name);
  const ip = (name: string, kind: "tcp" | "udp", wants: (row: string[]) => boolean): ListeningSocket[] =>
    table(name)
      .filter((row) => wants(row) && inodes.has(row[9] ?? ""))
      .map(([, local = ""]) => ({ kind, address: addressOf(local) }));
  const unix = table("unix")
    .filter((row) => (parseInt(row[3] ?? "", 16) & UNIX_ACCEPTS) !== 0 && inodes.has(row[6] ?? ""))
    .map((row) => ({ kind: "unix" as const, address: row[7] ?? "" }));
  return [
    ...["tcp", "tcp6"].flatMap((name) => ip(name, "tcp", (row) => row[3] === TCP_LISTEN)),
    // Each of these takes what is sent to its port.
    ...["udp", "udp6"].flatMap((name) => ip(name, "udp", () => true)),
    ...unix,
  ];
}

function inodesOf(pid: number): Set<string> {
  const folder = `/proc/${String(pid)}/fd`;
  const links = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      // Closed meanwhile.
      return "";
    }
  });
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

/** Rows of a table, without its head. A kernel without IPv6 has no table of it. */
function tableOf(pid: number, name: string): string[][] {
  const path = `/proc/${String(pid)}/net/${name}`;
  if (!existsSync(path)) return [];
  const [, ...rows] = readFileSync(path, "utf8").trimEnd().split("\n");
  return rows.map((row) => row.trim().split(/\s+/));
}

/** `0100007F:1F90` is 127.0.0.1:8080: words of four bytes, each in the order of the machine. */
function addressOf(local: string): string {
  const [host = "", port = ""] = local.split(":");
  const bytes = (host.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const text =
    bytes.length === 4
      ? bytes.map((byte) => parseInt(byte, 16)).join(".")
      : new URL(`http://[${(bytes.join("").match(/.{4}/g) ?? []).join(":")}]`).hostname;
  return `${text}:${String(parseInt(port, 16))}`;
}

/** macOS and the BSDs. */
function ofLsof(pids: readonly number[]): ListeningSocket[] {
  const of = (kind: ListeningSocket["kind"], ...choice: string[]): ListeningSocket[] =>
    lsof(["-nP", "-a", "-p", pids.join(","), ...choice, "-Fn"]).map((name) => ({ kind, address: name }));
  return [
    ...of("tcp", "-iTCP", "-sTCP:LISTEN"),
    ...of("udp", "-iUDP"),
    // A connected one has the name "->…" there.
    ...of("unix", "-U").filter(({ address }) => address.startsWith("/")),
  ];
}

/** It exits with 1 where there is none. */
function lsof(args: string[]): string[] {
  try {
    const lines = execFileSync("lsof", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n");
    return lines.filter((line) => line.startsWith("n")).map((line) => line.slice(1));
  } catch (error) {
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}
