/** Repair leaves an IPAddress without its Service alone for this long: the Service may be on its way (upstream repairip.go). */
export const ORPHAN_GRACE_MS = 60_000;
