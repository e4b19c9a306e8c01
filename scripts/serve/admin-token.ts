/** The token of the administrator of a local server: made once, in the data folder (`admin-token`, readable by its owner alone). */
import { parseToken } from "../../src/access/authentication/bearer-token";
import { type Admin, adminWith, newAdmin } from "../token/new-admin";
import { readIfThere, writePrivate } from "./private-file";

/** With the token that the file has; where it has none, with a new one. */
export async function adminTokenIn(path: string): Promise<Admin> {
  const kept = parseToken(readIfThere(path)?.trim() ?? "");
  if (kept) return adminWith(kept);
  const made = await newAdmin();
  writePrivate(path, `${made.token}\n`);
  return made;
}
