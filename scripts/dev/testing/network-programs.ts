/** Programs for network namespaces with nftables, for the suite whose machines are such. */
import { spawnSync } from "node:child_process";

/** `ip` on the PATH. */
export function findIp(): string | undefined {
  return spawnSync("ip", ["-V"], { stdio: "ignore" }).status === 0 ? "ip" : undefined;
}

/** `nft` on the PATH, where kube-proxy looks for it. */
export function findNft(): string | undefined {
  return spawnSync("nft", ["--version"], { stdio: "ignore" }).status === 0 ? "nft" : undefined;
}
