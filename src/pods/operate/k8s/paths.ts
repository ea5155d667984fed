// Where things are inside a container of a crawl on Kubernetes: the Dockerfile, the manifests and the configuration agree.

export const CONFIG_DIR = '/etc/orcrawl';
export const SECRETS_DIR = '/etc/orcrawl-secrets';
export const CONFIG_FILE = 'crawl.yaml';
/** A folder in it for each data directory. */
export const DATA_DIR = '/data';
/** The user of the image. */
export const USER_ID = 10_001;

export const volumeName = (index: number): string => `data-${index}`;
export const volumePath = (index: number): string => `${DATA_DIR}/${index}`;
