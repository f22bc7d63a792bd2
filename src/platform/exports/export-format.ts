/** How the rows of a whole list are written, one after the other. */
export interface ExportFormat {
  /** The media type in `Accept`. */
  mediaType: string;
  /** The same with its parameters, as it is sent. */
  contentType: string;
  /** The end of a file's name. */
  extension: string;
  /** What stands before the first row. */
  head: (attributes: string[]) => string;
  /** @param item the representation of a row @param attributes those of all rows, in their order */
  line: (item: object, attributes: string[]) => string;
}
