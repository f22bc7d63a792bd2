import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommentsModule } from '../comments/comments.module';
import { RepliesController } from './replies.controller';
import { RepliesService } from './replies.service';
import { Reply } from './reply.entity';

@Module({
  imports: [TypeOrmModule.forFeature([Reply]), CommentsModule],
  controllers: [RepliesController],
  providers: [RepliesService],
})
export class RepliesModule {}
