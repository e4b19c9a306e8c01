/** The state of an agent in a folder. */
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { StateFiles } from "../../src/clients/agent/index";
import { type OwnFolder, takeFolder } from "../folders/own-folder";

const AGENT_FOLDER: OwnFolder = {
  what: "the state folder",
  option: "--state",
  mark: ".servicenet-agent",
  text: "State of a Servicenet agent (npm run agent). It belongs to one node.\n",
  isOfEarlierRelease: (_, names) => names.includes("agent-id"),
};

/** Throws UserError for a folder with files of somebody else, and for one that cannot be written. */
export function stateFiles(folder: string): StateFiles {
  takeFolder(folder, AGENT_FOLDER);
  return {
    read: async (name) => {
      try {
        return await readFile(join(folder, name), "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    write: async (name, text) => {
      await mkdir(folder, { recursive: true });
      const path = join(folder, name);
      const written = await open(`${path}.new`, "w");
      try {
        await written.writeFile(text);
        await written.sync();
      } finally {
        await written.close();
      }
      await rename(`${path}.new`, path);
      await synced(folder);
    },
  };
}

/** The new name is on disk. */
async function synced(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
