/** How the files that a set-up left in its image come into a working copy. */
import { MOUNT_POINT } from "../workspace-path.ts";

/** Folder in the image. */
export const LAID_OUT = "/skep/set-up";

/**
 * Script that moves missing files into the working copy, each in one atomic step. If the sandbox is killed meanwhile,
 * the next run of the script begins unfinished files again.
 * They are prepared below `.git`, the one place in a working copy that is never committed.
 */
export const LAY_OUT = `[ -s ${LAID_OUT}/names ] || exit 0
cd ${MOUNT_POINT} || exit 1
had=; [ -e .git ] && had=1
made=.git/skep-set-up.$$
[ -n "$had" ] || mkdir .git || exit 1
[ -d .git ] || made=.skep-set-up.$$
while IFS= read -r path; do
  [ -e "./$path" ] || [ -L "./$path" ] && continue
  rm -rf "$made" && mkdir "$made" || exit 1
  tar -C ${LAID_OUT}/files -cf - "./$path" | tar -C "$made" -xf - || exit 1
  [ -e "./$path" ] || mv -- "$made/$path" "./$path" || exit 1
done < ${LAID_OUT}/names
rm -rf "$made"
[ -n "$had" ] || rmdir .git`;
