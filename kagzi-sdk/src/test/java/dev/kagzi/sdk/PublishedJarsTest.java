package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code mvn install} installs sources and Javadoc of published modules, and of no others. */
class PublishedJarsTest {
  private static final Path ROOT = Path.of("..");

  @Test
  void sources_and_javadoc_are_made_in_the_install_phase_before_the_jars_are_installed()
      throws IOException {
    String parent = Files.readString(ROOT.resolve("pom.xml"));

    assertThat(parent).contains("<kagzi.attach.phase>install</kagzi.attach.phase>");
    assertThat(parent.substring(parent.indexOf("</pluginManagement>")))
        .containsSubsequence(
            "<id>attach-sources</id>",
            "<phase>${kagzi.attach.phase}</phase>",
            "<id>attach-javadoc</id>",
            "<phase>${kagzi.attach.phase}</phase>",
            "<id>default-install</id>",
            "<phase>none</phase>",
            "<id>install-with-sources</id>",
            "<phase>install</phase>");
  }

  @Test
  void modules_that_are_not_published_make_neither() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      List<Path> poms =
          modules.map(each -> each.resolve("pom.xml")).filter(Files::isRegularFile).toList();
      assertThat(poms).hasSizeGreaterThan(7);
      for (Path pom : poms) {
        String text = Files.readString(pom);
        assertThat(text.contains("<kagzi.attach.phase>none</kagzi.attach.phase>"))
            .as(pom + " makes no sources and Javadoc")
            .isEqualTo(text.contains("<maven.deploy.skip>true</maven.deploy.skip>"));
      }
    }
  }
}
