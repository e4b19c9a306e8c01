/** A project of two small packages, and the server on loopback that its package-lock.json names. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface PackageRegistry {
  /** paths of the packages that were fetched, in their order */
  fetched: string[];
  /** From now on packages are sent when the returned function is called. */
  hold(): () => void;
  /** Writes package.json and package-lock.json of a project. `dev`: for development alone. */
  writeProject(folder: string, packages: readonly { name: string; version: string; dev?: boolean }[]): void;
  close(): void;
}

/** `folder`: for the packages. */
export async function packageRegistry(folder: string): Promise<PackageRegistry> {
  const fetched: string[] = [];
  let waiting: (() => void)[] | undefined;
  const server = createServer(({ url = "" }, response: ServerResponse) => {
    fetched.push(url);
    const send = (): void => void response.end(readFileSync(join(folder, url)));
    if (waiting) waiting.push(send);
    else send();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pack = (name: string, version: string): string => {
    const file = `${name}-${version}.tgz`;
    const source = join(folder, `${name}-${version}`, "package");
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, "package.json"), JSON.stringify({ name, version, main: "index.js" }));
    writeFileSync(join(source, "index.js"), `module.exports = ${JSON.stringify(`${name} ${version}`)};\n`);
    execFileSync("tar", ["-czf", join(folder, file), "-C", join(source, ".."), "package"]);
    return file;
  };
  return {
    fetched,
    hold: () => {
      waiting = [];
      return () => {
        for (const send of waiting ?? []) send();
        waiting = undefined;
      };
    },
    writeProject: (project, packages) => {
      const ofKind = (isDev: boolean) =>
        Object.fromEntries(packages.filter(({ dev = false }) => dev === isDev).map(({ name, version }) => [name, version]));
      const head = { name: "project", version: "1.0.0", dependencies: ofKind(false), devDependencies: ofKind(true) };
      const locked = packages.map(({ name, version, dev }) => {
        const file = pack(name, version);
        const integrity = `sha512-${createHash("sha512")
          .update(readFileSync(join(folder, file)))
          .digest("base64")}`;
        return [
          `node_modules/${name}`,
          { version, resolved: `http://127.0.0.1:${String(port)}/${file}`, integrity, ...(dev ? { dev } : {}) },
        ];
      });
      const lock = { ...head, lockfileVersion: 3, requires: true, packages: { "": head, ...Object.fromEntries(locked) } };
      writeFileSync(join(project, "package.json"), JSON.stringify(head));
      writeFileSync(join(project, "package-lock.json"), JSON.stringify(lock));
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
