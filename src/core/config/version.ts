/** The server behaves as this Kubernetes release; the suffix counts releases of this project. */
export const GIT_VERSION = "v1.36.2-servicenet.1";
