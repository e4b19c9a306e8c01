/**
 * core/v1 volumes of a Pod, their sources and the claim templates they embed (k8s.io/api core/v1, v0.36).
 */
import { LocalObjectReference, TypedLocalObjectReference } from "./core-references";
import { LabelSelector, ObjectMeta } from "../meta";
import {
  always,
  bool,
  enumOf,
  inline,
  int32,
  int64,
  listOf,
  mapOf,
  message,
  plain,
  pointer,
  quantity,
  ref,
  required,
  string,
} from "../dsl";
import type { MessageSchema } from "../types";

const HostPathVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.HostPathVolumeSource",
  {
    path: required(1, string, "Path on the node."),
    type: pointer(
      2,
      enumOf("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"),
      "What must be at the path, for example Directory; empty = it is not checked.",
    ),
  },
  { description: "A file or directory of the node." },
);

const EmptyDirVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.EmptyDirVolumeSource",
  {
    medium: plain(1, string, "What stores the directory: empty = the node's disk, Memory, or HugePages."),
    sizeLimit: pointer(2, quantity, "How much the directory may hold."),
  },
  { description: "An empty directory that lives as long as the Pod." },
);

const GCEPersistentDiskVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.GCEPersistentDiskVolumeSource",
  {
    pdName: required(1, string, "Name of the disk."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    partition: plain(3, int32, "Number of the partition to mount; 0 = the whole disk."),
    readOnly: plain(4, bool, "Whether the volume is read-only."),
  },
  { description: "A disk of Google Compute Engine. Superseded by CSI." },
);

const AWSElasticBlockStoreVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource",
  {
    volumeID: required(1, string, "Identifier of the volume."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    partition: plain(3, int32, "Number of the partition to mount; 0 = the whole disk."),
    readOnly: plain(4, bool, "Whether the volume is read-only."),
  },
  { description: "A volume of Amazon's Elastic Block Store. Superseded by CSI." },
);

const GitRepoVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.GitRepoVolumeSource",
  {
    repository: required(1, string, "URL of the repository."),
    revision: plain(2, string, "Hash of the commit."),
    directory: plain(3, string, "Directory in the volume that gets the copy; without .. in it."),
  },
  { description: "A copy of a git repository. Deprecated." },
);

const KeyToPath: MessageSchema = message(
  "io.k8s.api.core.v1.KeyToPath",
  {
    key: required(1, string, "The key."),
    path: required(2, string, "Path of the file, relative to the volume; without .. in it."),
    mode: pointer(3, int32, "Permission bits of the file, 0 to 511 (0777); unset = those of the volume."),
  },
  { description: "Puts the value of one key into a file." },
);

const SecretVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.SecretVolumeSource",
  {
    secretName: plain(1, string, "Name of the Secret in the Pod's namespace."),
    items: plain(2, listOf(ref(KeyToPath)), "Keys to show and their paths; empty = every key under its own name."),
    defaultMode: pointer(3, int32, "Permission bits of files that name none, 0 to 511 (0777); 420 (0644) unless set."),
    optional: pointer(4, bool, "Whether the Secret or its keys may be missing."),
  },
  { description: "A Secret as files." },
);

const NFSVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.NFSVolumeSource",
  {
    server: required(1, string, "Host name or address of the server."),
    path: required(2, string, "Path that the server exports."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
  },
  { description: "A directory of an NFS server." },
);

const ISCSIVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.ISCSIVolumeSource",
  {
    targetPortal: required(1, string, "Address of the target, with its port unless that is the usual one."),
    iqn: required(2, string, "Qualified name of the target."),
    lun: required(3, int32, "Number of the logical unit."),
    iscsiInterface: plain(4, string, "Interface to use; default unless set.", { default: "default" }),
    fsType: plain(5, string, "File system to mount, for example ext4."),
    readOnly: plain(6, bool, "Whether the volume is read-only."),
    portals: plain(7, listOf(string), "More addresses of the target."),
    chapAuthDiscovery: plain(8, bool, "Whether discovery authenticates with CHAP."),
    chapAuthSession: plain(11, bool, "Whether sessions authenticate with CHAP."),
    secretRef: pointer(10, ref(LocalObjectReference), "Secret with the CHAP credentials."),
    initiatorName: pointer(12, string, "Qualified name of the initiator, in place of the node's own."),
  },
  { description: "A disk of an iSCSI target." },
);

const GlusterfsVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.GlusterfsVolumeSource",
  {
    endpoints: required(1, string, "Name of the Endpoints object that lists the servers."),
    path: required(2, string, "Name of the volume."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
  },
  { description: "A volume of Gluster. Deprecated." },
);

const PersistentVolumeClaimVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource",
  {
    claimName: required(1, string, "Name of the PersistentVolumeClaim in the Pod's namespace."),
    readOnly: plain(2, bool, "Whether the mounts of the volume are read-only."),
  },
  { description: "The volume that a claim is bound to." },
);

const RBDVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.RBDVolumeSource",
  {
    monitors: required(1, listOf(string), "Addresses of the monitors."),
    image: required(2, string, "Name of the image."),
    fsType: plain(3, string, "File system to mount, for example ext4."),
    pool: plain(4, string, "Name of the pool; rbd unless set.", { default: "rbd" }),
    user: plain(5, string, "Name of the user; admin unless set.", { default: "admin" }),
    keyring: plain(6, string, "Path of the user's keyring.", { default: "/etc/ceph/keyring" }),
    secretRef: pointer(7, ref(LocalObjectReference), "Secret that authenticates the user, in place of the keyring."),
    readOnly: plain(8, bool, "Whether the volume is read-only."),
  },
  { description: "A block device of Ceph. Deprecated." },
);

const FlexVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.FlexVolumeSource",
  {
    driver: required(1, string, "Name of the driver."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    secretRef: pointer(3, ref(LocalObjectReference), "Secret that is handed to the driver."),
    readOnly: plain(4, bool, "Whether the volume is read-only."),
    options: plain(5, mapOf(string), "Options for the driver."),
  },
  { description: "A volume that a program on the node provides. Deprecated." },
);

const CinderVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.CinderVolumeSource",
  {
    volumeID: required(1, string, "Identifier of the volume."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
    secretRef: pointer(4, ref(LocalObjectReference), "Secret to connect to OpenStack with."),
  },
  { description: "A volume of OpenStack. Superseded by CSI." },
);

const CephFSVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.CephFSVolumeSource",
  {
    monitors: required(1, listOf(string), "Addresses of the monitors."),
    path: plain(2, string, "Directory to mount; / unless set."),
    user: plain(3, string, "Name of the user; admin unless set."),
    secretFile: plain(4, string, "Path of the user's keyring."),
    secretRef: pointer(5, ref(LocalObjectReference), "Secret that authenticates the user, in place of secretFile."),
    readOnly: plain(6, bool, "Whether the volume is read-only."),
  },
  { description: "A file system of Ceph. Deprecated." },
);

const FlockerVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.FlockerVolumeSource",
  {
    datasetName: plain(1, string, "Name of the dataset."),
    datasetUUID: plain(2, string, "Identifier of the dataset."),
  },
  { description: "A dataset of Flocker. Deprecated." },
);

export const ObjectFieldSelector: MessageSchema = message(
  "io.k8s.api.core.v1.ObjectFieldSelector",
  {
    apiVersion: plain(1, string, "API version in which fieldPath is written; v1 unless set."),
    fieldPath: required(2, string, "Path of the field, for example metadata.name."),
  },
  { description: "Selects a field of the Pod.", atomic: true },
);

export const ResourceFieldSelector: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceFieldSelector",
  {
    containerName: plain(1, string, "Name of the container; a volume must give it."),
    resource: required(2, string, "The resource, for example limits.cpu."),
    divisor: plain(3, quantity, "Unit of the value; 1 unless set."),
  },
  { description: "Selects a resource of a container.", atomic: true },
);

const DownwardAPIVolumeFile: MessageSchema = message(
  "io.k8s.api.core.v1.DownwardAPIVolumeFile",
  {
    path: required(1, string, "Path of the file, relative to the volume; without .. in it."),
    fieldRef: pointer(2, ref(ObjectFieldSelector), "Field of the Pod to show."),
    resourceFieldRef: pointer(3, ref(ResourceFieldSelector), "Resource of a container to show."),
    mode: pointer(4, int32, "Permission bits of the file, 0 to 511 (0777); unset = those of the volume."),
  },
  { description: "A file that shows a field of the Pod." },
);

const DownwardAPIVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.DownwardAPIVolumeSource",
  {
    items: plain(1, listOf(ref(DownwardAPIVolumeFile)), "The files."),
    defaultMode: pointer(2, int32, "Permission bits of files that name none, 0 to 511 (0777); 420 (0644) unless set."),
  },
  { description: "Fields of the Pod as files." },
);

const FCVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.FCVolumeSource",
  {
    targetWWNs: plain(1, listOf(string), "World wide names of the targets; needs lun."),
    lun: pointer(2, int32, "Number of the logical unit."),
    fsType: plain(3, string, "File system to mount, for example ext4."),
    readOnly: plain(4, bool, "Whether the volume is read-only."),
    wwids: plain(5, listOf(string), "World wide identifiers of the volume, in place of targetWWNs and lun."),
  },
  { description: "A disk on Fibre Channel." },
);

const AzureFileVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.AzureFileVolumeSource",
  {
    secretName: required(1, string, "Secret with the name and key of the storage account."),
    shareName: required(2, string, "Name of the share."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
  },
  { description: "A share of Azure File. Superseded by CSI." },
);

const ConfigMapVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapVolumeSource",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: plain(2, listOf(ref(KeyToPath)), "Keys to show and their paths; empty = every key under its own name."),
    defaultMode: pointer(3, int32, "Permission bits of files that name none, 0 to 511 (0777); 420 (0644) unless set."),
    optional: pointer(4, bool, "Whether the ConfigMap or its keys may be missing."),
  },
  { description: "A ConfigMap as files." },
);

const VsphereVirtualDiskVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource",
  {
    volumePath: required(1, string, "Path of the disk."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    storagePolicyName: plain(3, string, "Name of the storage policy."),
    storagePolicyID: plain(4, string, "Identifier of the storage policy."),
  },
  { description: "A disk of vSphere. Superseded by CSI." },
);

const QuobyteVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.QuobyteVolumeSource",
  {
    registry: required(1, string, "Addresses of the registries as host:port, separated by commas."),
    volume: required(2, string, "Name of the volume."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
    user: plain(4, string, "User that accesses the volume."),
    group: plain(5, string, "Group that accesses the volume."),
    tenant: plain(6, string, "Tenant that owns the volume."),
  },
  { description: "A volume of Quobyte. Deprecated." },
);

const AzureDiskVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.AzureDiskVolumeSource",
  {
    diskName: required(1, string, "Name of the disk."),
    diskURI: required(2, string, "URI of the disk."),
    cachingMode: pointer(3, enumOf("None", "ReadOnly", "ReadWrite"), "Caching by the host: None, ReadOnly or ReadWrite (unless set).", {
      default: "ReadWrite",
    }),
    fsType: pointer(4, string, "File system to mount; ext4 unless set.", { default: "ext4" }),
    readOnly: pointer(5, bool, "Whether the volume is read-only.", { default: false }),
    kind: pointer(6, enumOf("Shared", "Dedicated", "Managed"), "Shared (unless set), Dedicated or Managed.", { default: "Shared" }),
  },
  { description: "A disk of Azure. Superseded by CSI." },
);

const PhotonPersistentDiskVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource",
  {
    pdID: required(1, string, "Identifier of the disk."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
  },
  { description: "A disk of Photon Controller. Deprecated." },
);

const SecretProjection: MessageSchema = message(
  "io.k8s.api.core.v1.SecretProjection",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: plain(2, listOf(ref(KeyToPath)), "Keys to show and their paths; empty = every key under its own name."),
    optional: pointer(4, bool, "Whether the Secret or its keys may be missing."),
  },
  { description: "A Secret as part of a projected volume." },
);

const DownwardAPIProjection: MessageSchema = message(
  "io.k8s.api.core.v1.DownwardAPIProjection",
  {
    items: plain(1, listOf(ref(DownwardAPIVolumeFile)), "The files."),
  },
  { description: "Fields of the Pod as part of a projected volume." },
);

const ConfigMapProjection: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapProjection",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: plain(2, listOf(ref(KeyToPath)), "Keys to show and their paths; empty = every key under its own name."),
    optional: pointer(4, bool, "Whether the ConfigMap or its keys may be missing."),
  },
  { description: "A ConfigMap as part of a projected volume." },
);

const ServiceAccountTokenProjection: MessageSchema = message(
  "io.k8s.api.core.v1.ServiceAccountTokenProjection",
  {
    audience: plain(1, string, "For whom the token is; unset = for the API server."),
    expirationSeconds: pointer(2, int64, "Seconds that a token is valid; the kubelet renews it before."),
    path: required(3, string, "Path of the token, relative to the volume."),
  },
  { description: "A token of the Pod's service account as part of a projected volume." },
);

const ClusterTrustBundleProjection: MessageSchema = message(
  "io.k8s.api.core.v1.ClusterTrustBundleProjection",
  {
    name: pointer(1, string, "Name of one ClusterTrustBundle; excludes signerName."),
    signerName: pointer(2, string, "Takes all ClusterTrustBundles of this signer; excludes name."),
    labelSelector: pointer(3, ref(LabelSelector), "Narrows those of the signer; unset = none, empty = all."),
    optional: pointer(5, bool, "Whether the bundles may be missing."),
    path: required(4, string, "Path of the file, relative to the volume."),
  },
  { description: "Trust anchors as part of a projected volume." },
);

const PodCertificateProjection: MessageSchema = message(
  "io.k8s.api.core.v1.PodCertificateProjection",
  {
    signerName: plain(1, string, "Signer that is asked for the certificate.", { required: true }),
    keyType: plain(2, string, "Type of the key that the kubelet makes, for example ED25519.", { required: true }),
    maxExpirationSeconds: pointer(3, int32, "Seconds that the certificate may be valid at most."),
    credentialBundlePath: plain(4, string, "Path of the file with the key and the certificates, relative to the volume."),
    keyPath: plain(5, string, "Path of the file with the key alone."),
    certificateChainPath: plain(6, string, "Path of the file with the certificates alone."),
    userAnnotations: plain(7, mapOf(string), "Keys and values that are handed to the signer."),
  },
  { description: "A key and its certificate as part of a projected volume." },
);

const VolumeProjection: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeProjection",
  {
    secret: pointer(1, ref(SecretProjection), "A Secret."),
    downwardAPI: pointer(2, ref(DownwardAPIProjection), "Fields of the Pod."),
    configMap: pointer(3, ref(ConfigMapProjection), "A ConfigMap."),
    serviceAccountToken: pointer(4, ref(ServiceAccountTokenProjection), "A token of the Pod's service account."),
    clusterTrustBundle: pointer(5, ref(ClusterTrustBundleProjection), "Trust anchors."),
    podCertificate: pointer(6, ref(PodCertificateProjection), "A key and its certificate."),
  },
  { description: "One part of a projected volume; exactly one member is set." },
);

const ProjectedVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.ProjectedVolumeSource",
  {
    sources: always(1, listOf(ref(VolumeProjection)), "The parts."),
    defaultMode: pointer(2, int32, "Permission bits of files that name none, 0 to 511 (0777); 420 (0644) unless set."),
  },
  { description: "Several sources in one directory." },
);

const PortworxVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.PortworxVolumeSource",
  {
    volumeID: required(1, string, "Identifier of the volume."),
    fsType: plain(2, string, "File system to mount, for example ext4."),
    readOnly: plain(3, bool, "Whether the volume is read-only."),
  },
  { description: "A volume of Portworx. Superseded by CSI." },
);

const ScaleIOVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.ScaleIOVolumeSource",
  {
    gateway: required(1, string, "Address of the gateway."),
    system: required(2, string, "Name of the storage system."),
    secretRef: pointer(3, ref(LocalObjectReference), "Secret with the credentials.", { required: true }),
    sslEnabled: plain(4, bool, "Whether the gateway is reached through TLS."),
    protectionDomain: plain(5, string, "Name of the protection domain."),
    storagePool: plain(6, string, "Storage pool of the protection domain."),
    storageMode: plain(7, string, "ThickProvisioned or ThinProvisioned (unless set).", { default: "ThinProvisioned" }),
    volumeName: plain(8, string, "Name of the volume."),
    fsType: plain(9, string, "File system to mount; xfs unless set.", { default: "xfs" }),
    readOnly: plain(10, bool, "Whether the volume is read-only."),
  },
  { description: "A volume of ScaleIO. Deprecated." },
);

const StorageOSVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.StorageOSVolumeSource",
  {
    volumeName: plain(1, string, "Name of the volume."),
    volumeNamespace: plain(2, string, "Namespace of the volume in StorageOS; unset = that of the Pod."),
    fsType: plain(3, string, "File system to mount, for example ext4."),
    readOnly: plain(4, bool, "Whether the volume is read-only."),
    secretRef: pointer(5, ref(LocalObjectReference), "Secret with the credentials."),
  },
  { description: "A volume of StorageOS. Deprecated." },
);

const CSIVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.CSIVolumeSource",
  {
    driver: required(1, string, "Name of the driver."),
    readOnly: pointer(2, bool, "Whether the volume is read-only."),
    fsType: pointer(3, string, "File system to mount; unset = the driver decides."),
    volumeAttributes: plain(4, mapOf(string), "Attributes for the driver."),
    nodePublishSecretRef: pointer(5, ref(LocalObjectReference), "Secret that is handed to the driver."),
  },
  { description: "A volume that a CSI driver makes for the Pod." },
);

const VolumeResourceRequirements: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeResourceRequirements",
  {
    limits: plain(1, mapOf(quantity), "The most that is wanted, by resource."),
    requests: plain(2, mapOf(quantity), "The least that is wanted, by resource."),
  },
  { description: "How large a volume is to be." },
);

const TypedObjectReference: MessageSchema = message(
  "io.k8s.api.core.v1.TypedObjectReference",
  {
    apiGroup: pointer(1, string, "Group of the kind; unset = core."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    namespace: pointer(4, string, "Namespace of the object; unset = the same."),
  },
  { description: "Names an object of any kind, in another namespace if need be." },
);

const PersistentVolumeClaimSpec: MessageSchema = message(
  "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
  {
    accessModes: plain(
      1,
      listOf(enumOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")),
      "How the volume is to be mounted.",
    ),
    selector: pointer(4, ref(LabelSelector), "Selects volumes by their labels."),
    resources: plain(2, ref(VolumeResourceRequirements), "How large the volume is to be."),
    volumeName: plain(3, string, "Name of the volume that the claim is bound to."),
    storageClassName: pointer(5, string, "Name of the StorageClass."),
    volumeMode: pointer(6, enumOf("Block", "Filesystem"), "Filesystem (unless set) or Block."),
    dataSource: pointer(7, ref(TypedLocalObjectReference), "Object that the volume is to be filled from."),
    dataSourceRef: pointer(8, ref(TypedObjectReference), "The same, also for objects of other kinds and namespaces."),
    volumeAttributesClassName: pointer(9, string, "Name of the VolumeAttributesClass."),
  },
  { description: "What volume is wanted." },
);

const PersistentVolumeClaimTemplate: MessageSchema = message(
  "io.k8s.api.core.v1.PersistentVolumeClaimTemplate",
  {
    metadata: plain(1, ref(ObjectMeta), "Labels and annotations of the claim."),
    spec: required(2, ref(PersistentVolumeClaimSpec), "What volume is wanted."),
  },
  { description: "Claim that is made for a Pod." },
);

const EphemeralVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.EphemeralVolumeSource",
  {
    volumeClaimTemplate: pointer(1, ref(PersistentVolumeClaimTemplate), "Claim that is made for the Pod."),
  },
  { description: "A volume that is made for the Pod and goes with it." },
);

const ImageVolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.ImageVolumeSource",
  {
    reference: plain(1, string, "Name of the image."),
    pullPolicy: plain(2, enumOf("Always", "Never", "IfNotPresent"), "When the image is pulled: Always, Never or IfNotPresent."),
  },
  { description: "The files of an OCI image or artifact." },
);

const VolumeSource: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeSource",
  {
    hostPath: pointer(1, ref(HostPathVolumeSource), "A file or directory of the node."),
    emptyDir: pointer(2, ref(EmptyDirVolumeSource), "An empty directory that lives as long as the Pod."),
    gcePersistentDisk: pointer(3, ref(GCEPersistentDiskVolumeSource), "Deprecated: a disk of Google Compute Engine."),
    awsElasticBlockStore: pointer(4, ref(AWSElasticBlockStoreVolumeSource), "Deprecated: a volume of Amazon's Elastic Block Store."),
    gitRepo: pointer(5, ref(GitRepoVolumeSource), "Deprecated: a copy of a git repository."),
    secret: pointer(6, ref(SecretVolumeSource), "A Secret as files."),
    nfs: pointer(7, ref(NFSVolumeSource), "A directory of an NFS server."),
    iscsi: pointer(8, ref(ISCSIVolumeSource), "A disk of an iSCSI target."),
    glusterfs: pointer(9, ref(GlusterfsVolumeSource), "Deprecated: a volume of Gluster."),
    persistentVolumeClaim: pointer(10, ref(PersistentVolumeClaimVolumeSource), "The volume that a claim is bound to."),
    rbd: pointer(11, ref(RBDVolumeSource), "Deprecated: a block device of Ceph."),
    flexVolume: pointer(12, ref(FlexVolumeSource), "Deprecated: a volume that a program on the node provides."),
    cinder: pointer(13, ref(CinderVolumeSource), "Deprecated: a volume of OpenStack."),
    cephfs: pointer(14, ref(CephFSVolumeSource), "Deprecated: a file system of Ceph."),
    flocker: pointer(15, ref(FlockerVolumeSource), "Deprecated: a dataset of Flocker."),
    downwardAPI: pointer(16, ref(DownwardAPIVolumeSource), "Fields of the Pod as files."),
    fc: pointer(17, ref(FCVolumeSource), "A disk on Fibre Channel."),
    azureFile: pointer(18, ref(AzureFileVolumeSource), "Deprecated: a share of Azure File."),
    configMap: pointer(19, ref(ConfigMapVolumeSource), "A ConfigMap as files."),
    vsphereVolume: pointer(20, ref(VsphereVirtualDiskVolumeSource), "Deprecated: a disk of vSphere."),
    quobyte: pointer(21, ref(QuobyteVolumeSource), "Deprecated: a volume of Quobyte."),
    azureDisk: pointer(22, ref(AzureDiskVolumeSource), "Deprecated: a disk of Azure."),
    photonPersistentDisk: pointer(23, ref(PhotonPersistentDiskVolumeSource), "Deprecated: a disk of Photon Controller."),
    projected: pointer(26, ref(ProjectedVolumeSource), "Several sources in one directory."),
    portworxVolume: pointer(24, ref(PortworxVolumeSource), "Deprecated: a volume of Portworx."),
    scaleIO: pointer(25, ref(ScaleIOVolumeSource), "Deprecated: a volume of ScaleIO."),
    storageos: pointer(27, ref(StorageOSVolumeSource), "Deprecated: a volume of StorageOS."),
    csi: pointer(28, ref(CSIVolumeSource), "A volume that a CSI driver makes for the Pod."),
    ephemeral: pointer(29, ref(EphemeralVolumeSource), "A volume that is made for the Pod through a claim."),
    image: pointer(30, ref(ImageVolumeSource), "The files of an OCI image or artifact."),
  },
  { description: "Where a volume comes from; exactly one member is set." },
);

export const Volume: MessageSchema = message(
  "io.k8s.api.core.v1.Volume",
  {
    name: required(1, string, "Name of the volume, unique in the Pod."),
    volumeSource: inline(2, VolumeSource),
  },
  { description: "A volume that containers of the Pod can mount." },
);
