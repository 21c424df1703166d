package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Libraries in signatures of the public classes are ordinary dependencies. Without one of them,
 * frameworks that reflect on such a class fail, because {@code getDeclaredMethods} loads all types
 * of its signatures.
 */
class DependenciesTest {
  private static final Path CLASSES = Path.of("target", "classes", "dev", "kagzi", "sdk");

  @Test
  void an_application_gets_every_library_that_public_signatures_mention() throws Exception {
    Set<String> mentioned = new TreeSet<>();
    for (Class<?> type : publicClasses()) {
      for (Method method : type.getDeclaredMethods()) {
        library(method.getReturnType(), mentioned);
        Stream.of(method.getParameterTypes()).forEach(each -> library(each, mentioned));
      }
    }

    assertThat(mentioned).contains("micrometer-core", "opentelemetry-api", "slf4j-api");
    assertThat(mentioned).doesNotContainAnyElementsOf(notInherited());
  }

  private static List<Class<?>> publicClasses() throws IOException, ClassNotFoundException {
    List<Class<?>> types = new ArrayList<>();
    try (Stream<Path> files = Files.list(CLASSES)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.equals("package-info.class")) {
          types.add(Class.forName("dev.kagzi.sdk." + name.replace(".class", "")));
        }
      }
    }
    assertThat(types).hasSizeGreaterThan(70);
    return types;
  }

  /** Adds the artifact that the type is from: {@code micrometer-core-1.17.2.jar}. */
  private static void library(Class<?> type, Set<String> libraries) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source != null) {
      String file = source.getLocation().getPath().replaceAll(".*/", "");
      libraries.add(file.replaceAll("-[0-9].*", ""));
    }
  }

  /** Returns the artifacts of the pom that are optional, or for tests only. */
  private static Set<String> notInherited() throws IOException {
    return Pattern.compile("(?s)<dependency>(.*?)</dependency>")
        .matcher(Files.readString(Path.of("pom.xml")))
        .results()
        .map(dependency -> dependency.group(1))
        .filter(text -> text.contains("<optional>true") || text.contains("<scope>test"))
        .map(text -> text.replaceAll("(?s).*<artifactId>(.*?)</artifactId>.*", "$1"))
        .collect(Collectors.toSet());
  }
}
