// Where the built page is: beside the code, in dist/console.
export const pageFolder = new URL('../../console/', import.meta.url);
