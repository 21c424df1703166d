package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the modules know of each other, over the sources of all modules. */
class InternalPackagesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern ENGINE_TYPE =
      Pattern.compile("dev\\.kagzi\\.engine\\.(?:[a-z]+\\.)*[A-Z]\\w*");

  @Test
  void no_module_uses_the_internal_packages_of_another() throws IOException {
    assertThat(uses("kagzi-engine", Pattern.compile("import .*dev\\.kagzi\\.engine\\.internal.*")))
        .isEmpty();
    assertThat(uses("kagzi-sdk", Pattern.compile("import .*dev\\.kagzi\\.sdk\\.internal.*")))
        .isEmpty();
  }

  /** A type that only the engine uses belongs to the internal packages. */
  @Test
  void every_public_type_of_the_engine_serves_another_module() throws IOException {
    Set<String> face = new TreeSet<>();
    Deque<JavaClass> unread = new ArrayDeque<>();
    List<JavaClass> engine =
        new ClassFileImporter()
                .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.kagzi.engine")
                .stream()
                .filter(type -> type.getPackageName().startsWith("dev.kagzi.engine"))
                .filter(type -> !type.getPackageName().startsWith("dev.kagzi.engine.internal"))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .toList();
    Set<String> used = uses("kagzi-engine", ENGINE_TYPE);
    for (JavaClass type : engine) {
      if (used.contains(type.getName())) {
        face.add(type.getName());
        unread.add(type);
      }
    }
    while (!unread.isEmpty()) {
      for (JavaClass seen : signatureTypes(unread.remove())) {
        if (face.add(seen.getName())) {
          unread.add(seen);
        }
      }
    }

    assertThat(engine)
        .hasSizeGreaterThan(50)
        .filteredOn(type -> !type.isNestedClass())
        .extracting(JavaClass::getName)
        .allSatisfy(name -> assertThat(face).contains(name));
  }

  private static Set<JavaClass> signatureTypes(JavaClass type) {
    Set<JavaClass> types = new TreeSet<>((a, b) -> a.getName().compareTo(b.getName()));
    type.getEnclosingClass().ifPresent(types::add);
    types.addAll(type.getAllRawInterfaces());
    type.getRawSuperclass().ifPresent(types::add);
    Stream.concat(type.getMethods().stream(), type.getConstructors().stream())
        .filter(unit -> unit.getModifiers().contains(JavaModifier.PUBLIC))
        .forEach(unit -> addTypes(unit, types));
    type.getFields().stream()
        .filter(field -> field.getModifiers().contains(JavaModifier.PUBLIC))
        .forEach(field -> types.addAll(field.getAllInvolvedRawTypes()));
    return types;
  }

  private static void addTypes(JavaCodeUnit unit, Set<JavaClass> types) {
    types.addAll(unit.getReturnType().getAllInvolvedRawTypes());
    unit.getParameterTypes().forEach(parameter -> types.addAll(parameter.getAllInvolvedRawTypes()));
    unit.getExceptionTypes().forEach(types::add);
  }

  /** Returns what the pattern finds in the sources of all modules but one. */
  private static Set<String> uses(String except, Pattern pattern) throws IOException {
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(InternalPackagesTest::isSource).toList()) {
        if (!ROOT.relativize(file).startsWith(except)) {
          pattern
              .matcher(Files.readString(file))
              .results()
              .map(MatchResult::group)
              .forEach(found::add);
        }
      }
    }
    return found;
  }

  private static boolean isSource(Path file) {
    Path place = ROOT.relativize(file);
    return place.getNameCount() > 2
        && place.getName(1).toString().equals("src")
        && file.toString().endsWith(".java");
  }
}
