import { OneOf } from '../platform';
import { UploadVisibility } from './upload.entity';

/** Who may read the content of an upload. */
export class VisibilityDto {
  /**
   * `PUBLIC`: everybody may read the content. `PRIVATE`: only the owner, administrators, and whoever has a link may.
   * @example PUBLIC
   */
  @OneOf(UploadVisibility)
  visibility: UploadVisibility;
}
