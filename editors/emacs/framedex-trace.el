;;; framedex-trace.el --- Trace documents of framedex  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The major mode of *.fdtrace files.  Every frame with a location is a button.  The server, if it is running, looks up
;; frames without a location, and frames in files of other machines.

;;; Code:

(require 'button)
(require 'imenu)
(require 'framedex-server)

(defconst framedex-trace--frame "^ *[0-9]+ [NP] \\(?1:.+?\\) \\(?:at\\|in\\) "
  "The start of a line with a frame; group 1 is the function.")

(defconst framedex-trace--place " \\(?:at\\|or\\) \\(?1:/.*\\):\\(?2:[0-9]+\\)\\(?: \\[[^]\n]*\\]\\)*$"
  "The end of a line with a location; group 1 is the path, group 2 the line.")

(defface framedex-trace-function '((t :inherit font-lock-function-name-face))
  "Functions in traces."
  :group 'framedex)

(defvar framedex-trace-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "n") #'framedex-trace-next)
    (define-key map (kbd "p") #'framedex-trace-previous)
    (define-key map (kbd "RET") #'framedex-trace-visit)
    (define-key map (kbd "o") #'framedex-trace-visit-other-window)
    (define-key map (kbd "f") #'framedex-trace-fold)
    (define-key map (kbd "q") #'quit-window)
    map)
  "Keys of `framedex-trace-mode'.")

;;;###autoload
(define-derived-mode framedex-trace-mode text-mode "Trace"
  "Major mode for framedex trace documents: one stack frame per line.
\\<framedex-trace-mode-map>
\\[framedex-trace-visit] goes to the source of a frame,
\\[framedex-trace-next] and \\[framedex-trace-previous] to the frames around it,
\\[framedex-trace-fold] folds those of glue and of the interpreter."
  (setq buffer-read-only t)
  (setq truncate-lines t)
  (setq-local local-enable-local-variables nil) ; names of functions are no settings
  (setq-local imenu-generic-expression `((nil ,framedex-trace--frame 1)))
  (setq-local next-error-function #'framedex-trace--next-error)
  (add-hook 'xref-backend-functions #'framedex-trace--xref-backend nil t)
  (framedex-trace--make-buttons))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.fdtrace\\'" . framedex-trace-mode))

(put 'framedex-trace-mode 'eglot-language-id "framedex-trace")

(define-button-type 'framedex-trace
  'action (lambda (_) (framedex-trace-visit))
  'face 'default
  'mouse-face 'highlight
  'help-echo "mouse-2, RET: the source of this frame")

(defun framedex-trace--make-buttons ()
  "Make a button of every line with a frame or another location of a frame."
  (with-silent-modifications
    (save-excursion
      (goto-char (point-min))
      (while (not (eobp))
        (when (or (looking-at framedex-trace--frame) (looking-at "^ +or /"))
          (let ((function (match-beginning 1)) (end (match-end 1)))
            (make-text-button (line-beginning-position) (line-end-position) 'type 'framedex-trace)
            (when function (put-text-property function end 'face 'framedex-trace-function))))
        (forward-line)))))

(defun framedex-trace--folded-p (position)
  "Whether the line at POSITION is in a fold."
  (seq-some (lambda (overlay) (overlay-get overlay 'framedex-fold)) (overlays-at position)))

(defun framedex-trace--move (by)
  "Go to the next frame that is not in a fold: BY is 1, or -1 for the previous one."
  (let ((start (point)))
    (beginning-of-line)
    (while (and (zerop (forward-line by))
                (not (eobp))
                (or (not (button-at (point))) (framedex-trace--folded-p (point)))))
    (unless (button-at (point))
      (goto-char start)
      (user-error "No more frames"))))

(defun framedex-trace-next ()
  "Go to the next frame."
  (interactive)
  (framedex-trace--move 1))

(defun framedex-trace-previous ()
  "Go to the previous frame."
  (interactive)
  (framedex-trace--move -1))

(defun framedex-trace--next-error (count reset)
  "Visit the frame COUNT frames further down, from the top if RESET."
  (when reset (goto-char (point-min)))
  (dotimes (_ (abs (or count 1)))
    (framedex-trace--move (if (< (or count 1) 0) -1 1)))
  (framedex-trace-visit-other-window))

(defun framedex-trace--restored (text)
  "TEXT with escapes of invisible characters undone."
  (replace-regexp-in-string
   "\\\\\\(?:x[0-9a-f]\\{2\\}\\|u[0-9a-f]\\{4\\}\\|U[0-9a-f]\\{8\\}\\)"
   (lambda (escape) (string (string-to-number (substring escape 2) 16))) text t t))

(defun framedex-trace--place-here ()
  "The path and the line (from 0) of the frame at point.
By its text, else by the server."
  (save-excursion
    (beginning-of-line)
    (or (when (re-search-forward framedex-trace--place (line-end-position) t)
          (let ((path (framedex-trace--restored (match-string-no-properties 1)))
                (line (string-to-number (match-string 2))))
            (when (framedex--local-file path) (list path (1- line)))))
        (framedex-trace--ask-place))))

(defun framedex-trace--ask-place ()
  "The location of the frame at point, from the server."
  (when (and buffer-file-name (framedex--running-server))
    (framedex-trace--tell-server)
    (let* ((first (seq-first (framedex--ask :textDocument/definition (framedex--here))))
           (range (or (plist-get first :targetSelectionRange) (plist-get first :range))))
      (when first
        (list (framedex--path (or (plist-get first :targetUri) (plist-get first :uri)))
              (plist-get (plist-get range :start) :line))))))

(defun framedex-trace-visit ()
  "Go to the source of the frame at point."
  (interactive)
  (apply #'framedex--visit-path (or (framedex-trace--place-here) (user-error "No source found for this line"))))

(defun framedex-trace-visit-other-window ()
  "Show the source of the frame at point in another window."
  (interactive)
  (let ((place (or (framedex-trace--place-here) (user-error "No source found for this line"))))
    (save-selected-window
      (other-window-prefix)
      (apply #'framedex--visit-path place))))

(defvar-local framedex-trace--told nil
  "The server that has the text of this buffer.")

(defun framedex-trace--tell-server ()
  "Send the text of this buffer, which eglot does not manage, to the server."
  (let ((server (framedex--server)))
    (unless (or (framedex--managed-by-p server) (eq framedex-trace--told server))
      (setq framedex-trace--told server)
      (jsonrpc-notify server :textDocument/didOpen
                      (list :textDocument
                            (list :uri (framedex--uri) :languageId "framedex-trace" :version 0
                                  :text (save-restriction
                                          (widen)
                                          (buffer-substring-no-properties (point-min) (point-max)))))))))

(defun framedex-trace-fold ()
  "Fold or unfold the frames of glue and of the interpreter."
  (interactive)
  (if (seq-some (lambda (overlay) (overlay-get overlay 'framedex-fold)) (overlays-in (point-min) (point-max)))
      (remove-overlays (point-min) (point-max) 'framedex-fold t)
    (framedex--server)
    (framedex-trace--tell-server)
    (seq-doseq (range (framedex--ask :textDocument/foldingRange (list :textDocument (framedex--document))))
      (when (equal (plist-get range :kind) "framedex.glue")
        (framedex-trace--fold-lines range)))))

(defun framedex-trace--fold-lines (range)
  "Fold the lines of RANGE, a folding range of the server."
  (save-excursion
    (goto-char (point-min))
    (forward-line (plist-get range :startLine))
    (let ((start (point)))
      (forward-line (- (plist-get range :endLine) (plist-get range :startLine)))
      (let ((overlay (make-overlay start (line-end-position))))
        (overlay-put overlay 'framedex-fold t)
        (overlay-put overlay 'display (propertize (format "    %s" (plist-get range :collapsedText)) 'face 'shadow))
        (overlay-put overlay 'help-echo "f: unfold")))))

(defun framedex-trace--xref-backend ()
  "The `xref' backend for traces that eglot does not manage."
  'framedex-trace)

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql 'framedex-trace)))
  "The identifier is the line at point."
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(cl-defmethod xref-backend-definitions ((_backend (eql 'framedex-trace)) _identifier)
  "The source of the frame at point."
  (pcase (framedex-trace--place-here)
    (`(,path ,line)
     (list (xref-make (format "line %d" (1+ line))
                      (xref-make-file-location (framedex--local-file path) (1+ line) 0))))))

(provide 'framedex-trace)
;;; framedex-trace.el ends here
