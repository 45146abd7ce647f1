;;; framedex-server.el --- Starting and asking framedex's language server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; What every other part of framedex stands on: eglot, with the server `framedex serve'.

;;; Code:

(eval-and-compile
  (unless (require 'eglot nil t)
    (user-error "Framedex needs eglot: built in from Emacs 29 on, before that in %s"
                "M-x package-install RET eglot (Debian: apt-get install elpa-eglot)")))

(require 'jsonrpc)
(require 'subr-x)
(require 'url-util)
(require 'xref)

(defgroup framedex nil
  "Recorded JAX and XLA call stacks."
  :group 'tools
  :prefix "framedex-")

(defcustom framedex-command '("framedex" "serve")
  "The program and arguments that start the language server."
  :type '(repeat string))

(add-to-list 'eglot-server-programs
             `(framedex-trace-mode . ,(lambda (&rest _) framedex-command)))

;;;###autoload
(defun framedex-eglot ()
  "Make framedex the eglot server of this buffer's project and major mode."
  (interactive)
  ;; Frames lead out of the project: into installed libraries, from Python into C++.
  (setq eglot-extend-to-xref t)
  (setq-local eglot-server-programs
              (cons (cons major-mode framedex-command) eglot-server-programs))
  (call-interactively #'eglot))

(defvar framedex--server nil
  "The server that was asked last: frames lead to files that eglot does not manage.")

(defun framedex--running-server ()
  "The server to ask, or nil if none runs."
  (let ((server (or (eglot-current-server) framedex--server)))
    (setq framedex--server (and server (jsonrpc-running-p server) server))))

(defun framedex--server ()
  "The server to ask."
  (or (framedex--running-server)
      (user-error "No server here: M-x framedex-eglot starts it")))

(defun framedex--uri ()
  "The URI of the buffer's file."
  (unless buffer-file-name (user-error "This buffer has no file"))
  (concat "file://" (url-hexify-string (file-local-name (file-truename buffer-file-name)) url-path-allowed-chars)))

(defun framedex--document ()
  "The buffer's file, as the server takes it."
  (list :uri (framedex--uri)))

(defun framedex--here ()
  "The document and the line of point, as the server takes them."
  (list :textDocument (framedex--document)
        :position (list :line (1- (line-number-at-pos nil t)) :character 0)))

(defun framedex--ask (method params)
  "What the server answers to METHOD with PARAMS."
  (jsonrpc-request (framedex--server) method params))

(defun framedex--execute (command argument done)
  "Have the server run COMMAND with ARGUMENT, however long that takes.
DONE makes of its result what to say; of a failure the server tells by itself."
  (jsonrpc-async-request
   (framedex--server) :workspace/executeCommand (list :command command :arguments (vector argument))
   :timeout most-positive-fixnum
   :success-fn (lambda (result) (when result (message "%s" (funcall done result))))
   :error-fn (lambda (problem) (message "%s: %s" command (plist-get problem :message)))))

(defun framedex--local-file (path)
  "The name by which Emacs opens PATH, nil if there is no such file.
It is one of this machine, whatever it looks like: no TRAMP."
  (when (let ((file-name-handler-alist nil)) (file-regular-p path))
    (if (find-file-name-handler path 'file-exists-p) (concat "/:" path) path)))

(defun framedex--path (uri)
  "The path in URI."
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun framedex--visit (uri &optional line)
  "Show LINE, from 0, of the document at URI."
  (framedex--visit-path (framedex--path uri) (or line 0)))

(defun framedex--visit-location (location)
  "Show LOCATION, as LSP has them."
  (framedex--visit (plist-get location :uri) (framedex--line location)))

(defun framedex--line (location)
  "The line, from 0, at which LOCATION begins."
  (plist-get (plist-get (plist-get location :range) :start) :line))

(defun framedex--visit-path (path line)
  "Show LINE, from 0, of the file at PATH, so that M-, leads back."
  (let ((file (or (framedex--local-file path) (user-error "There is no file %s" path))))
    (xref-push-marker-stack)
    (find-file file)
    (goto-char (point-min))
    (forward-line line)
    (back-to-indentation)))

(defun framedex--open-trace (about)
  "Open the trace that the server writes ABOUT a line, or about a call."
  (when-let ((uri (framedex--ask :workspace/executeCommand
                                 (list :command "framedex.openTrace" :arguments (vector about))))
              (revert-without-query '("")))      ; it is written anew each time
    (framedex--visit uri)))

(defun framedex--duration (nanoseconds)
  "NANOSECONDS in the unit that people would use."
  (if (< nanoseconds 0)
      "never returned"
    (let ((number nanoseconds)
          (units '("ns" "µs" "ms" "s")))
      ;; From there on %.3g writes 1e+03.
      (while (and (cdr units) (>= number 999.5))
        (setq number (/ number 1e3)
              units (cdr units)))
      (format (if (< number 999.5) "%.3g %s" "%.0f %s") number (car units)))))

(provide 'framedex-server)
;;; framedex-server.el ends here
