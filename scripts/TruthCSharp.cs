// Prints the targets of a folder's C# calls according to Mono's compiler, for `truth-calls.ts`.
//
//   mcs -debug -target:library -out:program.dll -recurse:'PATH/*.cs' [OPTION OF THE COMPILER…]
//   mcs -out:truth.exe -r:MONO.CECIL -r:Mono.CompilerServices.SymbolWriter scripts/TruthCSharp.cs
//   MONO_PATH=FOLDER OF MONO.CECIL mono truth.exe PATH program.dll > calls.jsonl
//
// Reads the compiled code. Each call in it names the one method that it reaches, after overloads and conversions were
// resolved, and the symbols name the statement. The line of a call is where the statement's text has the method's name
// before a parenthesis, or `new` and the type's name. Calls without text (accessors, operators, generated code) are left
// out. Compiled code names a virtual method by its first declaration. A call of an overridden method therefore counts only
// for precision, and so do calls of one name in a statement that reach several methods on several lines.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.CompilerServices.SymbolWriter;

/// <summary>A statement of a method: its place in the compiled code and in the text.</summary>
class Point
{
    public int Offset, StartLine, EndLine;
    public string Path;
}

static class Truth
{
    static string root;
    static readonly Dictionary<string, string[]> texts = new Dictionary<string, string[]>();
    static readonly Dictionary<MethodDefinition, List<MethodDefinition>> overrides = new Dictionary<MethodDefinition, List<MethodDefinition>>();

    static MonoSymbolFile symbols;
    static readonly Dictionary<MethodDefinition, List<Point>> pointsOf = new Dictionary<MethodDefinition, List<Point>>();

    static List<Point> PointsOf(MethodDefinition method)
    {
        List<Point> points;
        if (pointsOf.TryGetValue(method, out points)) return points;
        var entry = symbols.GetMethodByToken(method.MetadataToken.ToInt32());
        points = entry == null ? new List<Point>() : entry.GetLineNumberTable().LineNumbers.Where(one => !one.IsHidden && one.Row < 0xfee000)
            .Select(one => new Point { Offset = one.Offset, StartLine = one.Row, EndLine = Math.Max(one.Row, one.EndRow), Path = Path.GetFullPath(symbols.GetSourceFile(one.File).FileName) })
            .OrderBy(one => one.Offset).ToList();
        return pointsOf[method] = points;
    }

    static string[] Lines(string path)
    {
        string[] lines;
        if (!texts.TryGetValue(path, out lines)) texts[path] = lines = File.ReadAllLines(path);
        return lines;
    }

    static IEnumerable<TypeDefinition> All(IEnumerable<TypeDefinition> types)
    {
        foreach (var type in types)
        {
            yield return type;
            foreach (var inner in All(type.NestedTypes)) yield return inner;
        }
    }

    static string Plain(string name) { return Regex.Replace(name, "`.*$", ""); }

    static string NameOf(MethodDefinition method)
    {
        return method.IsConstructor ? Plain(method.DeclaringType.Name) : Regex.Replace(method.Name, @"^.*\.", "");
    }

    /// <summary>The path in the folder, the first line with code, and the name; null if no text of the folder declares it.</summary>
    static Tuple<string, int, string> PlaceOf(MethodDefinition method)
    {
        var name = NameOf(method);
        if (method.HasBody && PointsOf(method).Count > 0)
        {
            var point = PointsOf(method)[0];
            var path = point.Path;
            if (!path.StartsWith(root)) return null;
            // Search upwards from the body for the line that declares it.
            for (var line = point.StartLine; line > Math.Max(0, point.StartLine - 40); line--)
                if (Regex.IsMatch(Lines(path)[line - 1], @"\b" + Regex.Escape(name) + @"\s*(<[^()]*>)?\s*\(")
                    && !Regex.IsMatch(Lines(path)[line - 1], @"^\s*(return|throw|await)\b|\bnew\s+" + Regex.Escape(name) + @"\b"))
                    return Tuple.Create(path.Substring(root.Length), line, name);
            return null;
        }
        // A method without a body (interface, abstract): find it by its type's file and the number of its parameters.
        foreach (var path in FilesOf(method.DeclaringType))
        {
            var lines = Lines(path);
            var inType = false;
            for (var at = 0; at < lines.Length; at++)
            {
                if (Regex.IsMatch(lines[at], @"\b(interface|class|struct)\s+\w")) inType = Regex.IsMatch(lines[at], @"\b(interface|class|struct)\s+" + Regex.Escape(Plain(method.DeclaringType.Name)) + @"\b");
                var found = inType ? Regex.Match(lines[at], @"\b" + Regex.Escape(name) + @"\s*(<[^()]*>)?\s*\(([^()]*)\)") : Match.Empty;
                if (!found.Success || lines[at].TrimStart().StartsWith("//")) continue;
                var list = Regex.Replace(found.Groups[2].Value, "<[^<>]*(<[^<>]*>)?[^<>]*>", "");
                var count = list.Trim() == "" ? 0 : list.Split(',').Length;
                var names = list.Split(',').Select(one => one.Trim().Split(' ').Last().TrimStart('@'));
                if (count != method.Parameters.Count || (count > 0 && !names.SequenceEqual(method.Parameters.Select(one => one.Name)))) continue;
                var types = list.Split(',').Select(one => one.Trim().Split(' ')).Select(one => one.Length > 1 ? one[one.Length - 2] : "");
                if (overloadsOf(method) > 1 && count > 0 && !SameTypes(types, method)) continue;
                return Tuple.Create(path.Substring(root.Length), at + 1, name);
            }
        }
        return null;
    }

    static int overloadsOf(MethodDefinition method) { return method.DeclaringType.Methods.Count(one => one.Name == method.Name); }

    static readonly Dictionary<string, string> keywords = new Dictionary<string, string> {
        { "int", "Int32" }, { "long", "Int64" }, { "short", "Int16" }, { "bool", "Boolean" }, { "float", "Single" }, { "uint", "UInt32" },
        { "ulong", "UInt64" }, { "ushort", "UInt16" } };

    static bool SameTypes(IEnumerable<string> written, MethodDefinition method)
    {
        return written.Zip(method.Parameters, (text, parameter) =>
        {
            var word = Regex.Replace(text, @"[\[\]?]", "").Split('.').Last();
            if (keywords.ContainsKey(word)) word = keywords[word];
            return word == "" || parameter.ParameterType.FullName.IndexOf(word, StringComparison.OrdinalIgnoreCase) >= 0;
        }).All(same => same);
    }

    static Dictionary<string, List<string>> declaring;
    static IEnumerable<string> FilesOf(TypeDefinition type)
    {
        if (declaring == null)
        {
            declaring = new Dictionary<string, List<string>>();
            foreach (var path in Directory.GetFiles(root, "*.cs", SearchOption.AllDirectories))
                foreach (Match found in Regex.Matches(File.ReadAllText(path), @"\b(?:interface|class|struct)\s+(\w+)"))
                {
                    List<string> paths;
                    if (!declaring.TryGetValue(found.Groups[1].Value, out paths)) declaring[found.Groups[1].Value] = paths = new List<string>();
                    if (!paths.Contains(path)) paths.Add(path);
                }
        }
        List<string> own;
        return declaring.TryGetValue(Plain(type.Name), out own) ? own : new List<string>();
    }

    static MethodDefinition Resolve(MethodReference reference)
    {
        try { return reference.Resolve(); } catch (AssemblyResolutionException) { return null; }
    }

    static void NoteOverrides(TypeDefinition type)
    {
        foreach (var method in type.Methods.Where(one => one.IsVirtual && !one.IsNewSlot))
            for (var parent = type.BaseType; parent != null; )
            {
                TypeDefinition up;
                try { up = parent.Resolve(); } catch (AssemblyResolutionException) { break; }
                if (up == null) break;
                foreach (var one in up.Methods.Where(one => one.IsVirtual && one.Name == method.Name && one.Parameters.Count == method.Parameters.Count))
                {
                    if (!overrides.ContainsKey(one)) overrides[one] = new List<MethodDefinition>();
                    overrides[one].Add(method);
                }
                parent = up.BaseType;
            }
    }

    static string Quote(string text) { return "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\""; }

    static void Main(string[] args)
    {
        root = Path.GetFullPath(args[0]).TrimEnd('/') + "/";
        var module = ModuleDefinition.ReadModule(args[1]);
        symbols = MonoSymbolFile.ReadSymbolFile(args[1] + ".mdb");
        var types = All(module.Types).ToList();
        foreach (var type in types) NoteOverrides(type);
        // (path, line, name) → targets, and whether they count only for precision.
        var calls = new SortedDictionary<string, Tuple<string, int, string, HashSet<Tuple<string, int, string>>, bool[]>>(StringComparer.Ordinal);
        foreach (var method in types.SelectMany(type => type.Methods).Where(one => one.HasBody))
        {
            var points = PointsOf(method);
            if (points.Count == 0) continue;
            var starts = points.Select(one => one.StartLine).Distinct().OrderBy(one => one).ToList();
            var statements = method.Body.Instructions
                .Where(one => one.OpCode.Code == Code.Call || one.OpCode.Code == Code.Callvirt || one.OpCode.Code == Code.Newobj)
                .Select(one => new { Point = points.LastOrDefault(point => point.Offset <= one.Offset), Target = (MethodReference)one.Operand })
                .Where(one => one.Point != null)
                .GroupBy(one => one.Point.StartLine);
            foreach (var statement in statements)
            {
                var path = statement.First().Point.Path;
                if (!path.StartsWith(root)) continue;
                var lines = Lines(path);
                var next = starts.FirstOrDefault(line => line > statement.Key);
                var last = Math.Min(lines.Length, Math.Max(statement.Max(one => one.Point.EndLine), next == 0 ? statement.Key + 12 : next - 1));
                foreach (var name in statement.GroupBy(one => one.Target.Name == ".ctor" ? "new " + Plain(one.Target.DeclaringType.Name) : one.Target.Name))
                {
                    var made = name.Key.StartsWith("new ");
                    var plain = made ? name.Key.Substring(4) : name.Key;
                    var written = (made ? @"\bnew\s+(\w+\.)*" : @"(?<!new\s)\b") + Regex.Escape(plain) + @"\s*(<[^()]*>)?\s*" + (made ? @"[({]" : @"\(");
                    var at = Enumerable.Range(statement.Key, Math.Max(1, last - statement.Key + 1)).Where(line => Regex.IsMatch(Regex.Replace(lines[line - 1], "//.*$", ""), written)).ToList();
                    var targets = name.Select(one => Resolve(one.Target)).Distinct().ToList();
                    // A call of an outside method that code here overrides (`ToString`) may reach either.
                    if (targets.Any(one => one != null && one.Module != module && overrides.ContainsKey(one))) continue;
                    var places = new HashSet<Tuple<string, int, string>>();
                    var loose = targets.Count > 1 && at.Count > 1;
                    var unknown = false;
                    foreach (var target in targets.Where(one => one != null && one.Module == module))
                        foreach (var one in new[] { target }.Concat(overrides.ContainsKey(target) ? overrides[target] : new List<MethodDefinition>()))
                        {
                            loose |= one != target;
                            var place = PlaceOf(one);
                            if (place != null) places.Add(place);
                            else if (!one.IsConstructor) unknown = true;
                            else foreach (var file in FilesOf(one.DeclaringType))
                                // A default constructor counts as its class.
                                for (var line = 0; line < Lines(file).Length; line++)
                                    if (Regex.IsMatch(Lines(file)[line], @"\b(class|struct)\s+" + Regex.Escape(plain) + @"\b"))
                                        places.Add(Tuple.Create(file.Substring(root.Length), line + 1, plain));
                        }
                    if (unknown) continue;
                    foreach (var line in at)
                    {
                        var key = path + ":" + line.ToString("D7") + " " + plain;
                        if (!calls.ContainsKey(key))
                            calls[key] = Tuple.Create(path.Substring(root.Length), line, plain, new HashSet<Tuple<string, int, string>>(), new bool[1]);
                        else if (!calls[key].Item4.SetEquals(places)) loose = true;
                        calls[key].Item4.UnionWith(places);
                        calls[key].Item5[0] |= loose || made && places.Count > 1;
                    }
                }
            }
        }
        foreach (var call in calls.Values)
        {
            var to = call.Item4.Select(one => "{\"path\":" + Quote(one.Item1) + ",\"line\":" + one.Item2 + ",\"name\":" + Quote(one.Item3) + "}");
            Console.WriteLine("{\"path\":" + Quote(call.Item1) + ",\"line\":" + call.Item2 + ",\"name\":" + Quote(call.Item3)
                + ",\"to\":[" + string.Join(",", to) + "],\"value\":" + (call.Item5[0] ? "true" : "false") + "}");
        }
    }
}
