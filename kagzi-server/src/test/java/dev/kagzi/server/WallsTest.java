package dev.kagzi.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The walls of the house, as far as they stand in the server. */
@AnalyzeClasses(packages = "dev.kagzi.server", importOptions = ImportOption.DoNotIncludeTests.class)
class WallsTest {

  @ArchTest
  static final ArchRule the_edges_touch_no_database =
      noClasses()
          .that()
          .resideInAnyPackage("dev.kagzi.server.grpc..", "dev.kagzi.server.http..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.sql..",
              "javax.sql..",
              "org.postgresql..",
              "com.zaxxer..",
              "dev.kagzi.engine.db..",
              "dev.kagzi.engine.journal..",
              "dev.kagzi.postgres..");

  @ArchTest
  static final ArchRule the_server_does_not_know_the_sdk =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.sdk..");

  @ArchTest
  static final ArchRule only_the_grpc_edge_speaks_the_protocol =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.kagzi.server.grpc..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.kagzi.protocol..", "io.grpc..", "com.google.protobuf..");

  @ArchTest
  static final ArchRule only_the_http_edge_speaks_http =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.kagzi.server.http..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.javalin..", "jakarta.servlet..", "org.eclipse.jetty..");

  @ArchTest
  static final ArchRule rooms_do_not_know_each_other_in_a_circle =
      slices().matching("dev.kagzi.server.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule endpoints_are_not_public =
      classes().that().haveSimpleNameEndingWith("Endpoint").should().bePackagePrivate();
}
