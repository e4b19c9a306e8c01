/** What makes a local server safe to reach: its certificates and the token of its administrator, all kept in the data folder. */
import { UserError } from "../terminal/user-error";
import { adminTokenIn } from "./admin-token";
import type { DataFolder } from "./data-folder";
import type { Credentials } from "./kubeconfig";
import { ownNames } from "./own-names";
import type { Security } from "./runtime";
import { keptCertificates } from "./tls/kept-certificates";

interface Secured {
  server: Security;
  client: Credentials;
}

/** Throws UserError where the folder's files cannot be read or written. */
export async function secured(
  folder: Pick<DataFolder, "path" | "adminTokenPath">,
  host: string,
  allowedHosts: readonly string[],
): Promise<Secured> {
  try {
    const { ca, keyPath, chainPath } = keptCertificates(folder.path, ownNames(host, allowedHosts));
    const { token, hash } = await adminTokenIn(folder.adminTokenPath);
    return { server: { keyPath, chainPath, ca, adminTokenHash: hash }, client: { ca, token } };
  } catch (error) {
    throw new UserError(
      `the certificates in the data folder ${folder.path} cannot be used (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}
