import { useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../components/button.tsx';
import { download, fileName } from '../../../components/download.ts';
import { useAct } from '../../../components/use-act.ts';
import { drawPicture, pictureSize } from './draw-picture.ts';
import type { TimelineScene } from './draw-timeline.ts';

interface PictureButtonProps {
  readonly session: string;
  readonly scene: TimelineScene;
}

/** Pixels of the picture for each of the page: it is looked at larger, too. */
const scale = 2;

/** Saves the part of the timeline that is seen as a picture, in the colours of the page. */
export function PictureButton({ session, scene }: PictureButtonProps) {
  const queries = useQueryClient();
  const { act, isBusy } = useAct();
  const save = (): void =>
    void act({
      run: async () => {
        const details = queries.getQueryData<{ title?: string }>(['sessions', 'one', session]);
        const words = { session, title: details?.title ?? session };
        download(fileName(`${session}-timeline`, 'png'), await pictureOf(scene, words));
      },
    });
  return (
    <Button
      look="bare"
      icon="picture"
      label="Save a picture of the timeline"
      isBusy={isBusy}
      onPress={save}
    />
  );
}

async function pictureOf(
  scene: TimelineScene,
  words: Parameters<typeof drawPicture>[2],
): Promise<Blob> {
  const { width, height } = pictureSize(scene);
  const canvas = document.createElement('canvas');
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser draws no pictures.');
  context.scale(scale, scale);
  drawPicture(context, scene, words);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (blob === null) throw new Error('This browser could not make the picture: zoom in, or fit.');
  return blob;
}
