<?php
/**
 * Prints what the calls of a folder's PHP reached while its tests ran, for `truth-calls.ts`.
 *
 *   php -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 -d xdebug.use_compression=0 \
 *     -d xdebug.output_dir=FOLDER $(which phpunit) -c PATH
 *   php -d auto_prepend_file=PATH/vendor/autoload.php scripts/truth-php.php PATH FOLDER/*.xt > calls.jsonl
 *
 * Xdebug's trace names the method that ran and the line that called it. A call counts where the method's name is written
 * before a parenthesis on that line, or on the nearest line above, because a call over several lines is reported at one of
 * them. Callbacks that PHP itself calls belong to no line. The method that ran may be any implementation of what the source
 * names. A call therefore reaches the method that ran, or one that it overrides or implements; any of them is enough. Calls
 * that did not run have no answer.
 */

const LINES_ABOVE = 12;

$root = realpath($argv[1]) . '/';

/** @return string[] the lines of a file, the first at 1 */
function linesOf(string $path): array
{
    static $known = [];
    return $known[$path] ??= array_merge([''], preg_split('/\R/', file_get_contents($path)));
}

/** The line on which a name is called: the given one, or the nearest above it; null if no text calls it. */
function calledAt(string $path, int $line, string $name, string $class): ?int
{
    $short = preg_quote(substr(strrchr('\\' . $class, '\\'), 1), '/');
    $plain = preg_quote($name, '/');
    $written = $name === '__construct'
        ? "/\\bnew\\s+\\\\?([\\w\\\\]*\\\\)?($short|self|static)(?![\\w\\\\])|parent::__construct\\s*\\(/i"
        : ($class === '' ? "/(?<![>:\\w])$plain\\s*\\(/i" : "/(->|::)\\s*$plain\\s*\\(/i");
    $lines = linesOf($path);
    for ($at = $line; $at > max(0, $line - LINES_ABOVE); $at--) {
        if (preg_match($written, $lines[$at] ?? '')) return $at;
    }
    return null;
}

/** @return array{path: string, line: int, name: string}|null where a function of the folder is declared */
function placeOf(ReflectionFunctionAbstract $function, string $name, string $root): ?array
{
    $path = $function->getFileName();
    if ($path === false || !str_starts_with($path, $root)) return null;
    // Attributes and comments precede the name.
    $lines = linesOf($path);
    for ($line = $function->getStartLine(); $line < $function->getStartLine() + 8; $line++) {
        if (preg_match('/function\s+&?\s*' . preg_quote($name, '/') . '\b/i', $lines[$line] ?? '')) {
            return ['path' => substr($path, strlen($root)), 'line' => $line, 'name' => $function->getShortName()];
        }
    }
    return null;
}

/** @return array<string, array> the places of a method, and of the methods that it overrides or implements */
function targetsOf(string $class, string $name, string $root): array
{
    static $known = [];
    $key = "$class::$name";
    if (isset($known[$key])) return $known[$key];
    $found = [];
    $types = $class === '' ? [] : [$class, ...array_values(class_parents($class) ?: []), ...array_values(class_implements($class) ?: [])];
    foreach ($types as $type) {
        if (!method_exists($type, $name)) continue;
        $method = new ReflectionMethod($type, $name);
        $place = placeOf($method, $name, $root);
        if ($place !== null && $name === '__construct') $place['name'] = $method->getDeclaringClass()->getShortName();
        if ($place !== null) $found["{$place['path']}:{$place['line']}"] = $place;
        if ($name === '__construct') break;
    }
    // `new C` reaches C, whichever class its constructor comes from.
    if ($name === '__construct' && ($file = (new ReflectionClass($class))->getFileName()) && str_starts_with($file, $root)) {
        $made = new ReflectionClass($class);
        $found["$class"] = ['path' => substr($file, strlen($root)), 'line' => $made->getStartLine(), 'name' => $made->getShortName()];
    }
    if ($class === '' && function_exists($name)) {
        $function = new ReflectionFunction($name);
        $place = placeOf($function, $function->getShortName(), $root);
        if ($place !== null) $found["{$place['path']}:{$place['line']}"] = $place;
    }
    return $known[$key] = $found;
}

function isLoadable(string $class): bool
{
    try {
        return class_exists($class) || trait_exists($class);
    } catch (Throwable) {
        return false; // It extends a class that is not installed.
    }
}

$calls = [];
$seen = [];
foreach (array_slice($argv, 2) as $trace) {
    $stream = fopen($trace, 'r');
    while (($text = fgets($stream)) !== false) {
        $fields = explode("\t", $text, 11);
        // An entry into a function that is written in PHP.
        if (count($fields) < 10 || $fields[2] !== '0' || $fields[6] !== '1') continue;
        [$called, $path, $line] = [$fields[5], $fields[8], (int) $fields[9]];
        $key = "$called $path $line";
        if (isset($seen[$key])) continue;
        $seen[$key] = true;
        if (!str_starts_with($path, $root) || str_contains($called, '{') || !is_file($path)) continue;
        [$class, $name] = preg_match('/^(.*?)(?:->|::)(\w+)$/', $called, $parts) ? [$parts[1], $parts[2]] : ['', $called];
        if ($class !== '' && !isLoadable($class)) continue;
        $short = substr(strrchr('\\' . $name, '\\'), 1);
        $at = calledAt($path, $line, $short, $class);
        if ($at === null) continue;
        $written = $name === '__construct' ? substr(strrchr('\\' . $class, '\\'), 1) : $short;
        $key = "$path:$at $written";
        $calls[$key] ??= ['path' => substr($path, strlen($root)), 'line' => $at, 'name' => $written, 'to' => [], 'oneOf' => true];
        $calls[$key]['to'] += targetsOf($class, $name, $root);
    }
}
ksort($calls);
foreach ($calls as $call) {
    $call['to'] = array_values($call['to']);
    echo json_encode($call, JSON_UNESCAPED_SLASHES), "\n";
}
