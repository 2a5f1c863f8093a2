// A certificate for one name and its key in two PEM files, for servers under test.
#pragma once

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace praxis::testing {

class PemFiles {
 public:
  struct Options {
    long from = -3600, until = 3600;  ///< seconds from now
    std::string passphrase = {};      ///< of the key; empty: none
  };

  explicit PemFiles(std::string name) : name_(std::move(name)) {
    std::string folder = (std::filesystem::temp_directory_path() / "praxis_pem_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    write({});
  }
  PemFiles(const PemFiles&) = delete;
  PemFiles& operator=(const PemFiles&) = delete;
  ~PemFiles() { std::filesystem::remove_all(folder_); }

  std::string certificate() const { return folder_ + "/cert.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }

  /// Replaces both files.
  void write(const Options& options) const {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_pair(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    X509* const x = made.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), options.from);
    X509_gmtime_adj(X509_getm_notAfter(x), options.until);
    X509_set_pubkey(x, key_pair.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name_.c_str()), -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    const std::string alternative = "DNS:" + name_ + ",IP:127.0.0.1";
    X509_EXTENSION* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(x, key_pair.get(), EVP_sha256());

    std::FILE* out = std::fopen(certificate().c_str(), "w");
    PEM_write_X509(out, x);
    std::fclose(out);
    out = std::fopen(key().c_str(), "w");
    ::chmod(key().c_str(), 0600);
    const auto& word = options.passphrase;
    PEM_write_PKCS8PrivateKey(out, key_pair.get(), word.empty() ? nullptr : EVP_aes_128_cbc(),
                              word.empty() ? nullptr : word.c_str(), static_cast<int>(word.size()), nullptr,
                              nullptr);
    std::fclose(out);
  }

 private:
  std::string name_, folder_;
};

}  // namespace praxis::testing
