// Extensions that a broad crawl does not queue: files that are not pages.
// This is the default of `skip_extensions`; a configuration may set its own.

export const SKIPPED_EXTENSIONS: readonly string[] = Object.freeze(
  [
    // Images
    'jpg jpeg jpe jfif png gif bmp ico svg svgz webp avif heic heif tif tiff jp2 jxl tga',
    // Video
    'mp4 m4v avi mov qt wmv flv mkv webm mpg mpeg mpe 3gp 3g2 ogv vob m2ts m3u8',
    // Audio
    'mp3 wav wma ogg oga opus flac aac m4a m4b aif aiff mid midi ra ram amr ape m3u pls',
    // Documents
    'pdf doc docx docm dot dotx xls xlsx xlsm xlsb ppt pptx pptm pps ppsx odt ods odp odg rtf epub mobi azw azw3 djvu ps eps tex vsd vsdx mpp pub',
    // Archives
    'zip rar 7z tar gz tgz bz2 tbz tbz2 xz txz lz lzma zst z cab arj lzh cpio war ear sit sitx',
    // Executables and packages
    'exe app msi msix dll so dylib apk aab ipa deb rpm pkg dmg jar bat cmd scr gadget xpi crx nupkg whl snap flatpak appimage',
    // Other binaries
    'bin dat iso img vhd vhdx vmdk ova ovf qcow2 toast torrent class o obj pyc pyo wasm swf fla ttf otf woff woff2 eot fon cur pcap',
    // Design
    'psd psb ai indd sketch fig xd xcf cdr dwg dxf skp blend 3ds fbx stl stp iges cr2 nef arw dng',
    // Data
    'csv tsv json jsonl ndjson geojson sql sqlite sqlite3 db mdb accdb dbf parquet avro orc feather h5 hdf5 npy npz mat rdata sav kml kmz gpx shp vcf ics bak tmp swp',
  ].flatMap((line) => line.split(' ')),
);

/** Files that are pages where documents are read. */
const DOCUMENT_EXTENSIONS = new Set(
  'pdf docx docm dotx xlsx xlsm pptx pptm ppsx odt ods odp rtf epub csv tsv json'.split(' '),
);

/** What is still not queued where documents are read. */
export const SKIPPED_BESIDE_DOCUMENTS: readonly string[] = Object.freeze(
  SKIPPED_EXTENSIONS.filter((ending) => !DOCUMENT_EXTENSIONS.has(ending)),
);

/**
 * A test of absolute http(s) URLs: whether the last segment of the path ends in one of `extensions`.
 *
 * @example
 * createExtensionTest(SKIPPED_EXTENSIONS)('https://example.com/film.MP4?x=1'); // true
 */
export function createExtensionTest(extensions: readonly string[]): (url: string) => boolean {
  const known = new Set(extensions);
  const longest = extensions.reduce((most, { length }) => Math.max(most, length), 0);
  return (url) => {
    let end = url.length;
    for (const mark of ['?', '#']) {
      const at = url.indexOf(mark);
      if (at >= 0 && at < end) end = at;
    }
    const slash = url.lastIndexOf('/', end - 1);
    // Only the slashes of `://`: no path, so the "extension" is a top-level domain.
    if (slash < 9 && url.charCodeAt(slash - 1) === 47) return false;
    const dot = url.lastIndexOf('.', end - 1);
    if (dot <= slash || end - dot - 1 > longest) return false;
    return known.has(url.slice(dot + 1, end).toLowerCase());
  };
}
