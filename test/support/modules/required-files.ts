import {
  BadRequestException,
  Controller,
  ParseFilePipe,
  type PipeTransform,
  Post,
  UploadedFile,
  UploadedFiles,
  UseInterceptors,
} from '@nestjs/common';
import {
  AnyFilesInterceptor,
  FileFieldsInterceptor,
  FileInterceptor,
  FilesInterceptor,
} from '@nestjs/platform-express';
import { Public } from '../../../src/platform';

/** A file, of which the tests look at little. */
interface File {
  originalname: string;
}

/** ParseFilePipe takes the empty object of no files for a file. */
class FilledPipe implements PipeTransform<object> {
  transform(files: object): object {
    if (Object.keys(files).length === 0) throw new BadRequestException('File is required');
    return files;
  }
}

const FILLED = new FilledPipe();

/** Each way to ask for files that must be there. */
@Controller('bodies')
@Public()
export class RequiredFilesController {
  @Post('required-files')
  @UseInterceptors(FileInterceptor('file'))
  requiredFile(@UploadedFile(new ParseFilePipe()) file: File): object {
    return { file: file.originalname };
  }

  @Post('several-required-files')
  @UseInterceptors(FilesInterceptor('pictures'))
  severalRequiredFiles(@UploadedFiles(ParseFilePipe) files: File[]): object {
    return { files: files.length };
  }

  @Post('required-named-files')
  @UseInterceptors(FileFieldsInterceptor([{ name: 'photo', maxCount: 1 }]))
  requiredNamedFiles(@UploadedFiles(FILLED) files: Record<string, File[]>): object {
    return { files: Object.keys(files) };
  }

  @Post('required-of-several')
  @UseInterceptors(FileFieldsInterceptor([{ name: 'one' }, { name: 'two' }]))
  requiredOfSeveral(@UploadedFiles(new FilledPipe()) files: Record<string, File[]>): object {
    return { files: Object.keys(files) };
  }

  @Post('required-any-files')
  @UseInterceptors(AnyFilesInterceptor())
  requiredAnyFiles(@UploadedFiles(new ParseFilePipe()) files: File[]): object {
    return { files: files.length };
  }
}
